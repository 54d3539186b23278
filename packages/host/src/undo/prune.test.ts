import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createChangeLog, type LogLine } from "./change-log.ts"
import { createContentStore } from "./content-store.ts"
import { isPruneDue, prune } from "./prune.ts"
import { createNameSeal } from "./sealed-names.ts"

const DAY = 24 * 3600 * 1000
const NOW = Date.parse("2026-11-22T12:00:00Z")

function historyOf(ages: readonly number[], size: number) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-prune-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, "undo"))
  const kept = join(folder, "undo")
  const store = createContentStore(() => kept)
  const log = createChangeLog(() => kept, folder, createNameSeal())
  const hashes = ages.map((age, at) => {
    const hash = store.put(randomBytes(size))
    const object = join(kept, "objects", hash.slice(0, 2), hash.slice(2))
    utimesSync(object, new Date(NOW - age * DAY), new Date(NOW - age * DAY))
    const lines: LogLine[] = [
      { type: "call", tool: "write_file", at: new Date(NOW - age * DAY).toISOString(), pid: 1 },
      { type: "change", n: at + 1, path: join(folder, "a"), before: { kind: "file", hash, size, mode: 0o644 } },
    ]
    log.append(`20261122-12000000${at}-0001-0000`, lines)
    return hash
  })
  const left = () =>
    readdirSync(join(kept, "objects"), { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).length
  return { kept, store, log, hashes, left }
}

test("what is older than its time is forgotten, with its contents", () => {
  const { store, log, hashes, left } = historyOf([40, 31, 5], 10)
  expect(prune(log, store, { days: 30, bytes: 1000 }, [], NOW)).toEqual({ forgotten: 2 })
  expect(log.read()).toHaveLength(1)
  expect([left(), store.get(hashes[2]!)?.length, store.get(hashes[0]!)]).toEqual([1, 10, undefined])
})

test("the oldest go while the rest takes too much room; what is young may be about to be noted", () => {
  const { store, log, left } = historyOf([9, 8, 7, 6, 0], 100)
  prune(log, store, { days: 30, bytes: 250 }, [], NOW)
  expect([log.read().length, left()]).toEqual([2, 2])
  prune(log, store, { days: 30, bytes: 0 }, [], NOW)
  expect([log.read().length, left()]).toEqual([0, 1])
})

test("it is due once a day", () => {
  const { kept } = historyOf([1], 1)
  const now = Date.now()
  expect([isPruneDue(kept, now), isPruneDue(kept, now + 1000), isPruneDue(kept, now + 2 * DAY)]).toEqual([
    true,
    false,
    true,
  ])
})

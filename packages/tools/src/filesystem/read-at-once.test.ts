import { appendFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { fileFixture } from "../testing/file-fixture.ts"
import { type Pinned, isReadAtOnce, readAtOnce } from "@toolwright/host/paths"

const pinned = (path: string): Pinned => ({ at: () => path, stat: statSync(path) }) as Pinned

test("a file is read as it is now, and one that has grown is left to be read with a limit", () => {
  using fixture = fileFixture()
  const path = join(fixture.root, "a.txt")
  writeFileSync(path, "hello")
  const before = pinned(path)
  expect(String(readAtOnce(before))).toBe("hello")
  truncateSync(path, 2)
  expect(String(readAtOnce(before))).toBe("he")
  appendFileSync(path, "x".repeat(100))
  expect(readAtOnce(before)).toBeUndefined()
})

test("large files and those of the kernel are not read at once", async () => {
  using fixture = fileFixture()
  const path = join(fixture.root, "a.txt")
  writeFileSync(path, "x".repeat(70_000))
  expect(await isReadAtOnce(pinned(path))).toBe(false)
  if (process.platform === "linux") expect(await isReadAtOnce(pinned("/proc/self/status"))).toBe(false)
})

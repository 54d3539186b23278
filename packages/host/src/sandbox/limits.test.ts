import { mkdtempSync, realpathSync, rmSync } from "node:fs"
import { totalmem, tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { childEnvironment } from "../spawn/environment.ts"
import { watchDisk } from "../spawn/disk-watch.ts"
import { defaultMemoryMb, diskBound } from "./limits.ts"
import { probeBubblewrap, runSandboxed, type SandboxPolicy } from "./sandbox.ts"

const contained = (await probeBubblewrap()).program !== undefined
const WAYS: readonly SandboxPolicy[] = contained ? ["auto", "off"] : ["off"]

const disk = vi.hoisted(() => ({ left: undefined as undefined | { ffree: number; bavail: number; bsize: number } }))
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof import("node:fs/promises")>()
  return { ...real, statfs: async (path: string) => disk.left ?? real.statfs(path) }
})

let root = ""
beforeEach(() => void (root = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-limits-")))))
afterEach(() => {
  disk.left = undefined
  rmSync(root, { recursive: true, force: true })
})

const run = (script: string, policy: SandboxPolicy, processes?: null) =>
  runSandboxed({
    argv: ["sh", "-c", script],
    cwd: root,
    env: childEnvironment(),
    timeoutMs: 20_000,
    policy,
    plan: { root, writable: true, ...(processes === null ? { limits: { processes } } : {}) },
  })

test.each(WAYS)("what a command may take unless something else is said, sandbox %s", async (policy) => {
  const { outcome, sandbox } = await run("ulimit -f; ulimit -d", policy)
  const memory = Math.max(1024, Math.floor((totalmem() / 1024 / 1024) * 0.75))
  expect(sandbox).toMatchObject({ memory_limit_mb: memory })
  expect([512, null]).toContain(sandbox.process_limit)
  // Blocks of 512 bytes: 16 GB.
  expect(outcome.stdout.text).toBe(`${16 * 1024 * 2048}\n${memory * 1024}\n`)
  expect((await run("true", policy, null)).sandbox.process_limit).toBe(null)
})

test.skipIf(!contained)("what is written to /tmp is bounded by half of the memory", async () => {
  const { outcome } = await run("df -k /tmp | tail -1 | awk '{print $2}'", "auto")
  // A bubblewrap before 0.7 cannot bound it, and half of the machine's memory is what the system gives then.
  const bounds = [defaultMemoryMb() / 2, totalmem() / 1024 / 1024 / 2]
  const megabytes = Number(outcome.stdout.text) / 1024
  expect(bounds.some((bound) => Math.abs(bound - megabytes) < 2)).toBe(true)
})

test("half a million files, 64 GB, and nine tenths of what is free are the most of a disk", async () => {
  expect(diskBound("/x", true)).toEqual({ folder: "/x", files: 500_000, megabytes: 64 * 1024 })
  expect(diskBound("/x", false)).toBe(undefined)
  vi.useFakeTimers()
  try {
    for (const [lost, passed] of [
      [89, 0],
      [91, 1],
    ] as const) {
      disk.left = { ffree: 1e9, bavail: 100, bsize: 1024 }
      const onPassed = vi.fn<() => void>()
      const end = watchDisk(diskBound(root, true)!, onPassed)
      await vi.advanceTimersByTimeAsync(0)
      disk.left = { ffree: 1e9, bavail: 100 - lost, bsize: 1024 }
      await vi.advanceTimersByTimeAsync(300)
      end()
      expect(onPassed).toHaveBeenCalledTimes(passed)
    }
  } finally {
    vi.useRealTimers()
  }
})

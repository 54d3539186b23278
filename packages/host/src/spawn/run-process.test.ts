import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { childEnvironment } from "./environment.ts"
import { runProcess, type ProcessRequest } from "./run-process.ts"

let folder = ""
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "toolwright-process-"))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (script: string, more: Partial<ProcessRequest> = {}) =>
  runProcess({ argv: ["sh", "-c", script], cwd: folder, env: childEnvironment(), timeoutMs: 20_000, ...more })

/** Whether a process with this argument lives; `sleep` commands are told apart by odd durations. */
function lives(argument: string): boolean {
  const listed = execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" })
  return listed.split("\n").some((line) => line.includes(argument) && !/^\s*Z/u.test(line))
}

describe("runProcess", () => {
  test("gives the exit code and both streams", async () => {
    const outcome = await run("echo out; echo err >&2; exit 3")
    expect(outcome).toMatchObject({ exitCode: 3, signal: null, ended: "exit" })
    expect([outcome.stdout.text, outcome.stderr.text]).toEqual(["out\n", "err\n"])
  })

  test("passes arguments as they are, without a shell", async () => {
    const argv = ["printf", "%s\n", "$(touch made)", "; touch made", "`touch made`", "-x"]
    const outcome = await runProcess({ argv, cwd: folder, env: childEnvironment(), timeoutMs: 5000 })
    expect(outcome.stdout.text).toBe("$(touch made)\n; touch made\n`touch made`\n-x\n")
    expect(existsSync(join(folder, "made"))).toBe(false)
  })

  test("does not wait for a background child that holds the pipes, and ends it", async () => {
    const started = performance.now()
    const outcome = await run("sleep 61.0171 & echo done")
    expect(outcome.stdout.text).toBe("done\n")
    expect(performance.now() - started).toBeLessThan(5000)
    expect(lives("61.0171")).toBe(false)
  })

  test.skipIf(process.platform !== "linux")("does not wait for whoever else holds the pipes either", async () => {
    const outcome = await run("setsid sleep 8.0177 & sleep 0.1; echo done")
    expect(outcome.stdout.text).toBe("done\n")
    // It left the group and holds the pipes still.
    expect(lives("8.0177")).toBe(true)
  })

  test("ends the whole process group when the time is over, even what ignores SIGTERM", async () => {
    const outcome = await run("trap '' TERM; sleep 61.0172 & sleep 61.0173; sleep 61.0174", {
      timeoutMs: 200,
      graceMs: 100,
    })
    expect(outcome.ended).toBe("timeout")
    for (const argument of ["61.0172", "61.0173", "61.0174"]) expect(lives(argument)).toBe(false)
  })

  test("lets a process clean up after SIGTERM", async () => {
    const outcome = await run("trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done", {
      timeoutMs: 300,
      graceMs: 5000,
    })
    expect(outcome.stdout.text).toBe("ready\ncleaned\n")
  })

  test.skipIf(process.platform !== "linux")("finds a grandchild that left the process group", async () => {
    await run("setsid sleep 61.0175 >/dev/null 2>&1 & sleep 0.1; echo started", { sweep: true })
    expect(lives("61.0175")).toBe(false)
    // The escape is real: the end of the group does not reach it.
    await run("setsid sleep 3.0176 >/dev/null 2>&1 & sleep 0.1; echo started")
    expect(lives("3.0176")).toBe(true)
  })

  test("is cancelled long before its end", async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 100)
    const outcome = await run("sleep 61.0176", { signal: controller.signal })
    expect(outcome.ended).toBe("cancelled")
    expect(lives("61.0176")).toBe(false)
  })

  test("does not start when it is cancelled already", async () => {
    const outcome = await run("touch never", { signal: AbortSignal.abort() })
    expect(outcome.ended).toBe("cancelled")
    expect(existsSync(join(folder, "never"))).toBe(false)
  })

  test("keeps head and tail of a flood in bounded memory and ends it at its limit", async () => {
    const before = process.memoryUsage().rss
    const outcome = await run("echo first; yes", {
      maxOutputBytes: 200_000_000,
      logDirectory: folder,
      limits: { logBytes: 1_000_000 },
    })
    expect(outcome.ended).toBe("output-limit")
    expect(outcome.stdout.bytes).toBeGreaterThan(200_000_000)
    expect(outcome.stdout.text.startsWith("first\n")).toBe(true)
    expect(outcome.stdout.text).toMatch(/bytes left out/u)
    expect(outcome.stdout.text.length).toBeLessThan(80_000)
    expect(statSync(outcome.stdout.logFile!).size).toBe(1_000_000)
    // What the runtime has not collected yet counts too; all of the output would be 200 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
  })

  test("keeps the ends of one line of 100 MB, and the log holds all that its limit allows", async () => {
    const outcome = await run("head -c 100000000 /dev/zero | tr '\\0' x; echo END", {
      logDirectory: folder,
      limits: { logBytes: 2_000_000 },
    })
    expect(outcome.stdout.bytes).toBe(100_000_004)
    expect(outcome.stdout.text.endsWith("xEND\n")).toBe(true)
    expect(readFileSync(outcome.stdout.logFile!, "utf8")).toBe("x".repeat(2_000_000))
  })

  test("does not cut a character in two", async () => {
    const outcome = await run("i=0; while [ $i -lt 200 ]; do printf 'é'; i=$((i+1)); done", {
      limits: { headBytes: 51, tailBytes: 51 },
    })
    expect(outcome.stdout.text).toMatch(/^é+\n\[\.\.\. \d+ bytes left out here \.\.\.\]\né+$/u)
  })

  test("reports progress while it runs", async () => {
    const seen: string[] = []
    await run("echo working; sleep 1.3", { onProgress: ({ lastLine }) => seen.push(lastLine) })
    expect(seen).toEqual(["working"])
  })

  test("rejects when the program is not there", async () => {
    const wanted = runProcess({
      argv: ["no-such-program-at-all"],
      cwd: folder,
      env: childEnvironment(),
      timeoutMs: 1000,
    })
    await expect(wanted).rejects.toMatchObject({ code: "ENOENT" })
  })

  test("shows a child nothing of our environment but what is allowed", async () => {
    process.env.TOOLWRIGHT_CANARY_TOKEN = "canary-4711"
    try {
      const outcome = await run("env")
      expect(outcome.stdout.text).toContain("PATH=")
      expect(outcome.stdout.text).not.toContain("canary-4711")
      const passed = await run("env", { env: childEnvironment({}, ["TOOLWRIGHT_CANARY_TOKEN"]) })
      expect(passed.stdout.text).toContain("canary-4711")
    } finally {
      delete process.env.TOOLWRIGHT_CANARY_TOKEN
    }
  })
})

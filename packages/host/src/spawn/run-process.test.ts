import { execFileSync, type ChildProcess } from "node:child_process"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { childEnvironment } from "./environment.ts"
import { runProcess, type ProcessRequest } from "./run-process.ts"

let folder = ""
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "toolwright-process-"))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (script: string, more: Partial<ProcessRequest> = {}) =>
  runProcess({ argv: ["sh", "-c", script], cwd: folder, env: childEnvironment(), timeoutMs: 60_000, ...more })

/** What `sleep` is told, so that its process can be found: for minutes, and as nobody else is. */
const minutes = (which: number): string => `${200 + which}.${process.pid}`

/** What was killed ends as soon as it gets its turn. */
const untilGone = (argument: string) => vi.waitFor(() => expect(lives(argument)).toBe(false))

/** Whether a process with this argument lives. */
function lives(argument: string): boolean {
  const listed = execFileSync("ps", ["-eo", "stat=,args="], { encoding: "utf8" })
  return listed.split("\n").some((line) => line.includes(argument) && !/^\s*Z/u.test(line))
}

/** A script that starts a `sleep` in a session of its own, and ends once it has left the group. */
const left = (name: string, duration: string, pipes = ""): string =>
  `setsid sh -c 'touch left-${name}; exec sleep ${duration}' ${pipes} & until [ -e left-${name} ]; do sleep ` +
  "0.01; done; echo done"

const end = (argument: string): unknown => execFileSync("pkill", ["-f", `sleep ${argument}`])

describe("runProcess", () => {
  test("gives the exit code and both streams", async () => {
    const outcome = await run("echo out; echo err >&2; exit 3")
    expect(outcome).toMatchObject({ exitCode: 3, signal: null, ended: "exit" })
    expect([outcome.stdout.text, outcome.stderr.text]).toEqual(["out\n", "err\n"])
  })

  test("passes arguments as they are, without a shell", async () => {
    const argv = ["printf", "%s\n", "$(touch made)", "; touch made", "`touch made`", "-x"]
    const outcome = await runProcess({ argv, cwd: folder, env: childEnvironment(), timeoutMs: 60_000 })
    expect(outcome.stdout.text).toBe("$(touch made)\n; touch made\n`touch made`\n-x\n")
    expect(existsSync(join(folder, "made"))).toBe(false)
  })

  test("does not wait for a background child that holds the pipes, and ends it", async () => {
    const outcome = await run(`sleep ${minutes(1)} & echo done`)
    expect(outcome).toMatchObject({ ended: "exit", exitCode: 0 })
    expect(outcome.stdout.text).toBe("done\n")
    await untilGone(minutes(1))
  })

  test.skipIf(process.platform !== "linux")("does not wait for whoever else holds the pipes either", async () => {
    const outcome = await run(left("pipes", minutes(2)))
    expect(outcome).toMatchObject({ ended: "exit", exitCode: 0 })
    expect(outcome.stdout.text).toBe("done\n")
    // It left the group and holds the pipes still.
    expect(lives(minutes(2))).toBe(true)
    end(minutes(2))
  })

  test("ends the whole process group when the time is over, even what ignores SIGTERM", async () => {
    const [first, second, third] = [minutes(3), minutes(4), minutes(5)]
    const outcome = await run(`trap '' TERM; sleep ${first} & sleep ${second}; sleep ${third}`, {
      timeoutMs: 200,
      graceMs: 100,
    })
    expect(outcome.ended).toBe("timeout")
    for (const argument of [first, second, third]) await untilGone(argument)
  })

  test("lets a process clean up after SIGTERM", async () => {
    const script = "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    let text = ""
    // On a busy machine the shortest time is over before it is ready.
    for (let timeoutMs = 300; text === ""; timeoutMs *= 4)
      text = (await run(script, { timeoutMs, graceMs: 60_000 })).stdout.text
    expect(text).toBe("ready\ncleaned\n")
  })

  test.skipIf(process.platform !== "linux")("finds a grandchild that left the process group", async () => {
    await run(left("swept", minutes(6), ">/dev/null 2>&1"), { sweep: true })
    await untilGone(minutes(6))
    // The escape is real: the end of the group does not reach it.
    await run(left("free", minutes(7), ">/dev/null 2>&1"))
    expect(lives(minutes(7))).toBe(true)
    end(minutes(7))
  })

  test.skipIf(process.platform !== "linux")(
    "finds what left the group a moment ago, between two programs",
    async () => {
      // While a process becomes another program it shows no environment: seen so, every second one escaped.
      for (let time = 0; time < 25; time += 1) {
        await run(`setsid sleep ${minutes(20)} >/dev/null 2>&1 &`, { sweep: true })
      }
      await untilGone(minutes(20))
    },
  )

  test("is cancelled long before its end", async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 100)
    const outcome = await run(`sleep ${minutes(8)}`, { signal: controller.signal })
    expect(outcome.ended).toBe("cancelled")
    await untilGone(minutes(8))
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

  test("reads what is in the pipes also where this process was held up when the other ended", async () => {
    const [heldUpNow, isWritten] = [join(folder, "held-up"), join(folder, "late")]
    const heldUp = ({ process: child }: { process: ChildProcess }): unknown =>
      child.once("exit", () => {
        setImmediate(() => {
          writeFileSync(heldUpNow, "")
          const over = Date.now() + 300
          while (!existsSync(isWritten) || Date.now() < over)
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
        })
      })
    subscribe("child_process", heldUp as never)
    try {
      const { stdout } = await run(
        `(until [ -e held-up ]; do sleep 0.01; done; echo late; touch late; sleep ${minutes(9)}) & echo done`,
      )
      expect(stdout.text).toBe("done\nlate\n")
    } finally {
      unsubscribe("child_process", heldUp as never)
    }
  })

  test("reports progress while it runs", async () => {
    const seen: string[] = []
    await run("echo working; sleep 1.3", { onProgress: ({ lastLine }) => seen.push(lastLine) })
    expect([...new Set(seen)]).toEqual(["working"])
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

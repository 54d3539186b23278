import { execFileSync } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { folderWith, startCli, type Running } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

/**
 * A tool that heeds no cancelling: it keeps the event loop's promise for ever, so that a first interrupt does not end
 * it.
 */
const DEAF = `export default {
  name: "deaf",
  description: "Never ends, whatever happens",
  parameters: { type: "object" },
  timeoutMs: 600000,
  handler: () => new Promise(() => setInterval(() => {}, 1000)),
}
`

/** A command that heeds no signal but the last, and two more that leave its group. */
const STUBBORN = (mark: string) =>
  `trap '' INT TERM HUP; (setsid sleep ${mark} >/dev/null 2>&1 &) ; sleep ${mark} & echo begun >&2; while :; do ` +
  `sleep ${mark}; done`

const isThere = (mark: string): boolean =>
  execFileSync("ps", ["-eo", "args="], { encoding: "utf8" }).includes(`sleep ${mark}`)

/** Interrupts until it has ended, as a person does: what comes within a quarter of a second is one key press. */
async function again({ child, finished }: Running): Promise<number | null> {
  child.kill("SIGINT")
  const repeated = setInterval(() => child.kill("SIGINT"), 400)
  const { code } = await finished
  clearInterval(repeated)
  return code
}

describe.skipIf(process.platform === "win32")(
  "a second interrupt ends the process at once, with all that it started",
  () => {
    test.each([
      ["in the sandbox", `301.${process.pid}`, "auto"],
      ["without one", `302.${process.pid}`, "off"],
    ])("of a run whose command heeds no signal, %s", async (_, mark, sandbox) => {
      const call = `  - reply: { calls: [{ name: bash, arguments: { command: ${JSON.stringify(STUBBORN(mark))} } }] }\n`
      const cwd = folderWith({
        "play.yaml": `abilities: { nativeTools: true }\nsteps:\n${call}`,
        "own.yaml": `builtins: { bash: { sandbox: '${sandbox}' } }\npermissions: { allow: [bash] }\n`,
      })
      const run = startCli(["run", "x", "--screenplay", "play.yaml", "--config", "own.yaml", "--json"], { cwd })
      await run.until(/"tool-start"/)
      await vi.waitFor(() => expect(isThere(mark)).toBe(true))
      expect(await again(run)).toBe(130)
      await vi.waitFor(() => expect(isThere(mark)).toBe(false))
      const next = await here(["run", "x", "--screenplay", "play.yaml", "--max-rounds", "0"], { cwd })
      expect(next.stderr).not.toContain("Another run")
    })

    test("of a run whose tool never ends, at the first one already", async () => {
      const cwd = folderWith({
        "deaf.mjs": DEAF,
        "play.yaml":
          "abilities: { nativeTools: true }\nsteps:\n  - reply: { calls: [{ name: deaf, arguments: {} }] }\n",
      })
      const run = startCli(["run", "x", "--screenplay", "play.yaml", "--tools", "deaf.mjs", "--json"], { cwd })
      await run.until(/"tool-start"/)
      run.child.kill("SIGINT")
      const { code, stdout } = await run.finished
      expect(code).toBe(130)
      expect(stdout.trimEnd().split("\n").at(-1)).toContain('"outcome":"cancelled"')
    })

    test("of a chat", async () => {
      const cwd = folderWith({
        "deaf.mjs": DEAF,
        "play.yaml":
          "abilities: { nativeTools: true }\nsteps:\n  - reply: { calls: [{ name: deaf, arguments: {} }] }\n",
      })
      const chat = startCli(["chat", "--screenplay", "play.yaml", "--tools", "deaf.mjs"], {
        cwd,
        stdin: "go\n",
        keepOpen: true,
      })
      await chat.until(/deaf/)
      expect(await again(chat)).toBe(130)
    })

    test("of a server with a call that never ends, and of its caller's connection", async () => {
      const cwd = folderWith({ "deaf.mjs": DEAF })
      const args = ["serve", "--port", "0", "--token", "t-123456", "--tools", "deaf.mjs"]
      const serving = startCli(args, { cwd })
      const [, port] = await serving.until(/http:\/\/127\.0\.0\.1:(\d+)/)
      const call = fetch(`http://127.0.0.1:${port}/tools/deaf`, {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json", authorization: "Bearer t-123456" },
      }).then(
        ({ status }) => status,
        () => "broken off",
      )
      await vi.waitFor(async () => {
        const metrics = await fetch(`http://127.0.0.1:${port}/metrics`, {
          headers: { authorization: "Bearer t-123456" },
        })
        expect(await metrics.text()).toContain("toolwright_tool_calls_running 1")
      })
      expect(await again(serving)).toBe(130)
      expect(await call).toBe("broken off")
    })

    test("not at the first one: a server's call that is under way ends, and is answered", async () => {
      const slow = DEAF.replace("deaf", "slow").replace(
        "new Promise(() => setInterval(() => {}, 1000))",
        `new Promise((resolve) => { writeFileSync("begun", ""); const at = setInterval(() => existsSync("go") && ` +
          `(clearInterval(at), resolve({ success: true, output: "ended", data: null, modifiedFiles: [], metadata: ` +
          "{} })), 20) })",
      )
      const cwd = folderWith({ "slow.mjs": `import { existsSync, writeFileSync } from "node:fs"\n${slow}` })
      const serving = startCli(["serve", "--port", "0", "--token", "t-123456", "--tools", "slow.mjs"], { cwd })
      const [, port] = await serving.until(/http:\/\/127\.0\.0\.1:(\d+)/)
      const call = fetch(`http://127.0.0.1:${port}/tools/slow`, {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json", authorization: "Bearer t-123456" },
      })
      await vi.waitFor(() => expect(existsSync(join(cwd, "begun"))).toBe(true))
      serving.child.kill("SIGINT")
      // Nobody new is let in any more, while that one goes on.
      await vi.waitFor(() => expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed"))
      writeFileSync(join(cwd, "go"), "")
      expect(await (await call).text()).toContain("ended")
      await serving.finished
    })

    test("two signals of one key press are one: the run ends in order", async () => {
      const cwd = folderWith({ "play.yaml": "steps: [{ reply: { text: wait, hang: true } }]\n" })
      const run = startCli(["run", "x", "--screenplay", "play.yaml", "--json"], { cwd })
      await run.until(/"text-delta"/)
      run.child.kill("SIGINT")
      run.child.kill("SIGINT")
      const { code, stdout } = await run.finished
      expect(code).toBe(130)
      expect(stdout).toContain('"run-end"')
    })
  },
)

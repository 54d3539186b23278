import { execFileSync, spawnSync } from "node:child_process"
import { copyFileSync, existsSync } from "node:fs"
import { delimiter, join } from "node:path"
import { createScriptedBackend, serveBackend } from "@toolwright/backends"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { COMMANDS } from "./commands/index.ts"
import { cli as built, cliFromSource as cli, folderWith, startCli } from "./testing/run-cli.ts"
import { here } from "./testing/run-here.ts"
import { SETTINGS } from "@toolwright/runtime/configuration"
import { SCREEN } from "./usage.ts"

describe("help", () => {
  test("lists every command, without arguments and with --help", async () => {
    const [bare, long] = await Promise.all([cli([]), cli(["--help"])])
    expect(bare).toEqual(long)
    expect(long).toMatchObject({ code: 0, stderr: "" })
    for (const { name, summary, hidden } of COMMANDS)
      expect(long.stdout.split("\n").some((line) => line.startsWith(`  ${name} `) && line.endsWith(summary))).toBe(
        hidden !== true,
      )
  })

  test("of a command is the same in three spellings, with options and examples", async () => {
    const answers = await Promise.all([
      here(["help", "tools"]),
      here(["tools", "--help"]),
      here(["tools", "call", "-h"]),
    ])
    for (const { code, stdout } of answers) expect({ code, stdout }).toEqual({ code: 0, stdout: answers[0]!.stdout })
    expect(answers[0]!.stdout).toMatch(
      /^Usage: toolwright tools[^]*Options \(and common ones[^]*--args <json>[^]*Examples:/,
    )
  })

  test.each(COMMANDS.map((entry) => entry.name))("of %s says what the list says", async (name) => {
    const entry = COMMANDS.find((each) => each.name === name)!
    const command = await entry.load()
    expect(command).toMatchObject({ name, summary: entry.summary })
    expect(command.usage).toMatch(/^Usage: toolwright [^]*Examples:\n {2}/)
    for (const line of command.usage.split("\n")) expect(line).not.toContain("undefined")
  })

  test.each(COMMANDS.map((entry) => entry.name))("of %s fits one screen", async (name) => {
    const { usage } = await COMMANDS.find((each) => each.name === name)!.load()
    const lines = usage.trimEnd().split("\n")
    expect(lines.length).toBeLessThanOrEqual(SCREEN.lines)
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(SCREEN.columns)
    // A line ends where it is full or a sentence ends, and not where the source's line did.
    const prose = lines.slice(lines.indexOf("") + 1, lines.indexOf("", lines.indexOf("") + 1))
    for (const [at, line] of prose.slice(0, -1).entries()) {
      const [word = ""] = prose[at + 1]!.split(" ")
      if (!/[.:]$/.test(line)) expect(`${line} ${word}`.length, line).toBeGreaterThan(SCREEN.columns)
    }
  })

  test("of options and of settings lists each of them once", async () => {
    const [options, settings] = await Promise.all([here(["help", "options"]), here(["help", "settings"])])
    for (const { key, flag } of SETTINGS) {
      expect(settings.stdout.split("\n").filter((line) => line.split(/ +/)[1] === key)).toHaveLength(1)
      if (flag === undefined) continue
      const found = options.stdout.split("\n").filter((line) => line.trim().split(" ")[0] === `--${flag}`)
      expect(found, flag).toHaveLength(1)
    }
  })
})

test("--version prints the version", async () => {
  expect(await cli(["--version"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
})

test.each<[string[], string]>([
  [["tols"], "Did you mean 'toolwright tools'?"],
  [["frobnicate"], "toolwright --help"],
  [["--jsn"], "Unknown option '--jsn'"],
  [["help", "rum"], "Did you mean 'toolwright run'?"],
  [["tools", "lst"], "'tools lst' is not known"],
  [["tools", "list", "--jsno"], "Did you mean '--json'?"],
  [["tools", "list", "--root"], "--root <dir>"],
  [["tools", "list", "--json=perhaps"], "is true or false, but 'perhaps' was given"],
  [["config", "extra"], "Unexpected argument 'extra'"],
  [["format", "parse", "reply.txt", "--format", "hermes"], "'< reply.txt'"],
  [["runs", "show"], "'latest'"],
  [["run"], "The task is missing"],
  [["run", "a", "--description", "b"], "given twice"],
  [["build", "fix", "add()"], "Put text with spaces in quotes"],
  [["serve", "."], "--root <dir>"],
])("%j is refused with exit code 2 and a way out", async (args, said) => {
  const { code, stdout, stderr } = await here(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
  expect(stderr).toContain(said)
})

test("an older Node hands over to the one that the repository brings", async ({ skip }) => {
  const old = oldNode()
  if (old === undefined) return skip("there is no Node older than 22.18 on the path")
  const { code, stdout } = await cli(["--version"], { node: old })
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d/) })
  expect(await cli(["tools", "nope"], { node: old })).toMatchObject({ code: 2 })
  // Told that it already runs on the packaged one, it has nowhere to go.
  const stuck = await cli(["--version"], { node: old, env: { TOOLWRIGHT_NODE: "x" } })
  expect(stuck).toMatchObject({ code: 1, stderr: expect.stringContaining("needs Node.js 22.18 or newer") })
})

test("what an older Node has handed over to ends with it, however that ends", async ({ skip }) => {
  const old = oldNode()
  if (old === undefined) return skip("there is no Node older than 22.18 on the path")
  const steps = [{ reply: { text: "I think", hang: true } }]
  const model = await serveBackend(createScriptedBackend({ model: "m", steps }))
  // Not waited for: what lived on would hold it open.
  onTestFinished(() => void model.close())
  const cwd = folderWith()
  const run = startCli(["run", "wait", "--json", "--model", "m", "--base-url", model.baseUrl], { cwd, node: old })
  await run.until(/"text-delta"/)
  const [{ status: before }] = JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as [{ status: string }]
  run.child.kill("SIGKILL")
  const left = async () => (JSON.parse((await here(["runs", "--json"], { cwd })).stdout) as { status: string }[])[0]
  await vi.waitFor(async () => expect((await left())!.status).not.toBe("running"), { timeout: 20_000, interval: 200 })
  expect(before).toBe("running")
})

function oldNode(): string | undefined {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const file = join(folder, "node")
    if (!existsSync(file)) continue
    const [major = 0, minor = 0] = execFileSync(file, ["-p", "process.versions.node"], { encoding: "utf8" })
      .split(".")
      .map(Number)
    if (major < 22 || (major === 22 && minor < 18)) return file
  }
  return undefined
}

test("the packages need Node 22.13, and say so to an older one", () => {
  // As it is installed: without the sources beside it.
  const folder = folderWith({
    "bin/launch.js": "console.log('launched')",
    "older.cjs": "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: process.env.AS } })",
  })
  copyFileSync(join(import.meta.dirname, "../bin/toolwright.js"), join(folder, "bin/toolwright.js"))
  const on = (version: string) => {
    const args = ["--require", join(folder, "older.cjs"), join(folder, "bin/toolwright.js")]
    const env = { PATH: process.env.PATH, AS: version, TOOLWRIGHT_NODE: "x" }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env })
    return { status, said: stdout + stderr }
  }
  for (const version of ["22.13.0", "22.18.1", "24.0.0"]) expect(on(version)).toEqual({ status: 0, said: "launched\n" })
  for (const version of ["22.12.9", "20.19.0"])
    expect(on(version)).toEqual({ status: 1, said: expect.stringContaining("needs Node.js 22.13 or newer") as string })
})

test("what asks nobody does not load the half of Node that asks", async () => {
  const shows = "process.on('exit', () => console.error(process.moduleLoadList.join('\\n')))"
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shows)}` }
  const cwd = folderWith()
  for (const args of [
    ["runs", "list"],
    ["tools", "call", "echo", "--message", "a"],
  ]) {
    const { code, stderr } = await built(args, { cwd, env })
    expect(code).toBe(0)
    expect(stderr).toContain("NativeModule fs")
    expect(stderr.split("\n").filter((line) => /undici|NativeModule _?tls/.test(line))).toEqual([])
  }
})

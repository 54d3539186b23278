import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeAll, describe, expect, test } from "vitest"
import { built } from "../../cli/src/testing/built-command.ts"

const root = join(import.meta.dirname, "../../..")
const example = join(root, "examples/test-your-agent")
const fromSources = ["--conditions=toolwright-source"]
const runTests = ["--test", "--test-reporter=spec"]

/** Longer than a busy machine takes for the model of the example. */
const PATIENT = ["--testTimeout=240000"]

/** A program of its own, as a person starts it: without what this test runner has set. */
function run(args: readonly string[], cwd = root): { status: number | null; output: string } {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_(OPTIONS|ENV|TEST)|TEST$|TOOLWRIGHT_)/.test(name)),
  )
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd,
    env: { ...env, NO_COLOR: "1" },
    encoding: "utf8",
  })
  return { status, output: `${stdout}${stderr}` }
}

/** A project of its own, in which our packages are installed. */
async function project(): Promise<Disposable & { path: string }> {
  const path = mkdtempSync(join(tmpdir(), "example-"))
  const installed = join(await built(), "node_modules")
  mkdirSync(join(path, "node_modules"))
  for (const name of readdirSync(installed)) symlinkSync(join(installed, name), join(path, "node_modules", name))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

describe("the example", () => {
  test("passes under node:test, from the sources", () => {
    const { status, output } = run([...fromSources, ...runTests, join(example, "weather-agent.test.ts")])
    expect(status, output).toBe(0)
    expect(output).toMatch(/tests 6\n/)
  })

  test("passes under vitest, the same file, in a project of its own", async () => {
    using own = await project()
    cpSync(example, own.path, { recursive: true })
    symlinkSync(join(root, "node_modules/vitest"), join(own.path, "node_modules/vitest"))
    const { status, output } = run([join(root, "node_modules/vitest/vitest.mjs"), "run", ...PATIENT], own.path)
    expect(status, output).toBe(0)
    expect(output).toMatch(/Tests {2}6 passed|Tests {2}5 passed \| 1 skipped/)
  })
})

/** Tests that fail, one to a file, each from its eighth line on. */
const FAILING = {
  unplayed: `  await runAgent({ task: "Coat?", backend: scripted([oslo, "Yes.", "Take a scarf, too."]), tools })`,
  unexpected:
    `  await runAgent({ task: "Coat?", backend: scripted([oslo, { expect: { result: "21 °C" }, text: "No." ` +
    "}]), tools })",
  other: `  const run = await runAgent({ task: "Coat?", backend: scripted([oslo, "Yes."]), tools })
  assert.deepEqual(callsOf(run), [{ call: "get_weather", arguments: { city: "Rome" } }])`,
}

describe("a test that fails shows its person", () => {
  /** What was said of each, by its name. */
  const said: Record<string, string> = {}

  beforeAll(async () => {
    using own = await project()
    for (const [name, body] of Object.entries(FAILING))
      writeFileSync(
        join(own.path, `${name}.test.ts`),
        `import assert from "node:assert/strict"
import { test } from "node:test"
import { callsOf, runAgent, scripted } from "@toolwright/testing"
import { defineTool } from "toolwright"
const tools = [defineTool({ name: "get_weather", description: "", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }, execute: () => "4 °C" })]
const oslo = { call: "get_weather", arguments: { city: "Oslo" } }
test(${JSON.stringify(name)}, async () => {
${body}
})
`,
      )
    const { status, output } = run([...runTests, "--test-isolation=none"], own.path)
    expect(status, output).toBe(1)
    // Those that failed are told one after another at the end.
    const [, failed = ""] = output.split("failing tests:")
    for (const [, name, text] of failed.matchAll(/^test at (\w+)\.test\.ts.*\n([^]*?)(?=^test at |(?![^]))/gm))
      said[name!] = text!
    expect(Object.keys(said).toSorted()).toEqual(Object.keys(FAILING).toSorted())
  })

  test("which reply was not played, with all that happened", () => {
    expect(said["unplayed"]).toContain("1 of 3 replies was not played; the model was asked 2 times:")
    expect(said["unplayed"]).toContain('- reply 3: text "Take a scarf, too."')
    expect(said["unplayed"]).toMatch(/at .*unplayed\.test\.ts:8:/)
    expect(said["unplayed"]).toMatch(
      /call {4}get_weather\(\{"city":"Oslo"\}\)\n +result {2}get_weather: 4 °C\n +model {3}Yes\.\n +end {5}completed: Yes\./,
    )
  })

  test("what the model was shown in place of what it was to be shown", () => {
    expect(said["unexpected"]).toContain(
      'Reply 2 of 2 (text "No."): expected what came back since the last reply to contain "21 °C".',
    )
    expect(said["unexpected"]).toContain("There was: 4 °C")
    expect(said["unexpected"]).toMatch(/at .*unexpected\.test\.ts:8:/)
  })

  test("which argument is another", () => {
    expect(said["other"]).toMatch(/\+ +city: 'Oslo'\n *- +city: 'Rome'/)
  })
})

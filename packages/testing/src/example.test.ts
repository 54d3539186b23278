import { spawnSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { workspace } from "./workspace/workspace.ts"

const root = join(import.meta.dirname, "../../..")
const example = join(root, "examples/test-your-agent")
const runTests = ["--conditions=toolwright-source", "--test", "--test-reporter=spec"]

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

describe("the example", () => {
  test("passes under node:test", () => {
    const { status, output } = run([...runTests, join(example, "weather-agent.test.ts")])
    expect(status, output).toBe(0)
    expect(output).toMatch(/tests 6\n/)
  })

  test("passes under vitest, the same file", () => {
    const { status, output } = run([join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", example, ...PATIENT])
    expect(status, output).toBe(0)
    expect(output).toMatch(/Tests {2}6 passed|Tests {2}5 passed \| 1 skipped/)
  })
})

describe("a test that fails shows its person", () => {
  const failing = (body: string): string => {
    using folder = workspace({
      files: {
        "agent.test.ts": `import assert from "node:assert/strict"
import { test } from "node:test"
import { callsOf, runAgent, scripted } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))}
import { defineTool } from ${JSON.stringify(join(root, "packages/toolbox/src/index.ts"))}
const tools = [defineTool({ name: "get_weather", description: "", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] }, execute: () => "4 °C" })]
const oslo = { call: "get_weather", arguments: { city: "Oslo" } }
test("coat", async () => {
${body}
})
`,
      },
    })
    const { status, output } = run([...runTests, join(folder.path, "agent.test.ts")])
    expect(status).toBe(1)
    return output
  }

  test("which reply was not played, with all that happened", () => {
    const output = failing(
      `  await runAgent({ task: "Coat?", backend: scripted([oslo, "Yes.", "Take a scarf, too."]), tools })`,
    )
    expect(output).toContain("1 of 3 replies was not played; the model was asked 2 times:")
    expect(output).toContain('- reply 3: text "Take a scarf, too."')
    expect(output).toMatch(/at .*agent\.test\.ts:8:/)
    expect(output).toMatch(
      /call {4}get_weather\(\{"city":"Oslo"\}\)\n +result {2}get_weather: 4 °C\n +model {3}Yes\.\n +end {5}completed: Yes\./,
    )
  })

  test("what the model was shown in place of what it was to be shown", () => {
    const output = failing(
      `  await runAgent({ task: "Coat?", backend: scripted([oslo, { expect: { result: "21 °C" }, text: "No." ` +
        "}]), tools })",
    )
    expect(output).toContain(
      'Reply 2 of 2 (text "No."): expected what came back since the last reply to contain "21 °C".',
    )
    expect(output).toContain("There was: 4 °C")
    expect(output).toMatch(/at .*agent\.test\.ts:8:/)
  })

  test("which argument is another", () => {
    const output = failing(`  const run = await runAgent({ task: "Coat?", backend: scripted([oslo, "Yes."]), tools })
  assert.deepEqual(callsOf(run), [{ call: "get_weather", arguments: { city: "Rome" } }])`)
    expect(output).toMatch(/\+ +city: 'Oslo'\n *- +city: 'Rome'/)
  })
})

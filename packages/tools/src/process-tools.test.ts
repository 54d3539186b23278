import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { validate } from "@toolwright/toolbox"
import { probeBubblewrap } from "@toolwright/host/sandbox"
import { callTool } from "@toolwright/host/testing/call-tool"
import { workspaceFixture } from "./testing/workspace-fixture.ts"

const files = {
  "package.json": '{ "type": "module", "scripts": { "test": "node --test" } }\n',
  "README.md": "# Fixture\n",
  "src/index.ts": 'import { createServer } from "node:http"\ncreateServer()\n',
  "src/sum.js": "export const sum = (a, b) => a + b\n",
  "src/sum.test.js":
    'import { test } from "node:test"\nimport { sum } from "./sum.js"\ntest("sums", () => { if (sum(1, 2) !== 3) ' +
    'throw new Error("wrong") })\n',
}

function fixture() {
  const made = workspaceFixture(files, { git: { protocols: ["file"] } })
  execFileSync("git", ["init", "--quiet", "--bare", join(made.root, "../remote.git")])
  made.gits(
    ["init", "--quiet"],
    ["add", "."],
    ["commit", "--quiet", "--message=Begin"],
    ["remote", "add", "origin", join(made.root, "../remote.git")],
  )
  made.write({ "README.md": "# Changed\n" })
  return made
}

using described = fixture()
const tools = [...described.tools.values()]

test("the tools are these", () => {
  expect(tools.map(({ name }) => name)).toEqual([
    "navigate",
    "bash",
    "test",
    "git",
    "get_local_git_changes_info",
    "workspace",
    "validation",
    "git_operations",
  ])
})

describe.for(tools)("$name", (tool) => {
  test("says what it is, what it needs, what it does and what it answers", () => {
    expect(tool).toMatchObject({
      title: expect.any(String) as string,
      usageHint: expect.any(String) as string,
      outputSchema: { type: "object" },
    })
    expect(tool.effects).toBeDefined()
    expect(tool.tags?.length).toBeGreaterThan(0)
    expect((tool.examples ?? []).length).toBeGreaterThan(0)
    expect(tool.timeoutMs).toBeGreaterThan(0)
  })

  test("every action has a branch of its own that says what it requires, and an example", () => {
    const branches = tool.parameters.oneOf ?? []
    for (const action of tool.actions?.list ?? []) {
      const branch = branches.find((one) => one.properties?.[tool.actions!.argument]?.const === action.action)
      expect(action.examples?.length, action.action).toBeGreaterThan(0)
      expect({ action: action.action, branch: branch?.required }).toEqual({
        action: action.action,
        branch: expect.arrayContaining([tool.actions!.argument]) as string[],
      })
    }
  })

  test("its examples run, and answer in the shape that it promises", async () => {
    using place = fixture()
    const fresh = place.tools.get(tool.name)!
    for (const { description, input } of fresh.examples ?? []) {
      expect(await validate(fresh.parameters, input), description).toEqual([])
      const result = await callTool(fresh, input)
      expect({ description, output: result.output, success: result.success }).toMatchObject({
        description,
        success: true,
      })
    }
  })
})

test.each([undefined, "off"] as const)(
  "every result of a command or of tests says what contained it, sandbox %s",
  async (sandbox) => {
    const { program } = await probeBubblewrap()
    using place = workspaceFixture(files, sandbox === undefined ? {} : { sandbox })
    const kind = sandbox === undefined && program !== undefined ? "bubblewrap" : "none"
    for (const [name, args] of [
      ["bash", { command: "echo hello" }],
      ["bash", { command: "false" }],
      ["test", { framework: "node", files: ["src/sum.test.js"] }],
    ] as const) {
      const { metadata, output } = await callTool(place.tools.get(name)!, args)
      expect({ name, sandbox: metadata.sandbox }).toMatchObject({ name, sandbox: { kind } })
      if (name === "bash")
        expect(/WARNING: ran WITHOUT a sandbox \([^)]+\)[^\n]*\s*$/u.test(output)).toBe(kind === "none")
    }
  },
)

import { expect, test } from "vitest"
import { defineTool } from "../define.ts"
import { ToolwrightError } from "../model/errors.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { ToolRegistry } from "../registry/registry.ts"

const input = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const read = defineTool({
  name: "read",
  description: "Reads",
  parameters: input,
  execute: ({ path }) => {
    throw new ToolwrightError("NOT_A_FILE", `Not a file: ${String(path)}`, {
      hint: "It is a directory.",
      next: { does: "list a directory", arguments: { path } },
    })
  },
})
const list = defineTool({
  name: "entries",
  description: "Lists",
  does: ["list a directory"],
  parameters: input,
  execute: () => "",
})
const walk = defineTool({
  name: "walk",
  description: "Walks",
  parameters: {
    type: "object",
    properties: { how: { enum: ["up", "into"] } },
    oneOf: [
      { properties: { how: { const: "up" } } },
      { properties: { how: { const: "into" }, path: { type: "string" } }, required: ["path"] },
    ],
  },
  actions: {
    argument: "how",
    list: [
      { action: "up", description: "" },
      { action: "into", description: "", does: ["list a directory"] },
    ],
  },
  execute: () => "",
})

async function hintWith(...tools: ToolDefinition[]): Promise<{ hint: string | undefined; output: string }> {
  const registry = new ToolRegistry()
  for (const tool of [read, ...tools]) registry.register(tool)
  const { error, output } = await registry.execute("read", { path: "src" })
  expect(error).not.toHaveProperty("next")
  return { hint: error?.hint, output }
}

test("what could be done next becomes a call of a tool that is on offer", async () => {
  const { hint, output } = await hintWith(list)
  expect(hint).toBe('It is a directory. To list a directory, call {"name":"entries","arguments":{"path":"src"}}.')
  expect(output).toBe(`Not a file: src\n${hint}`)
})

test("of a tool with several actions it is the call of the action", async () => {
  const { hint } = await hintWith(walk)
  expect(hint).toContain('{"name":"walk","arguments":{"how":"into","path":"src"}}')
})

test("where nothing on offer does it, nothing is said of it", async () => {
  expect((await hintWith()).hint).toBe("It is a directory.")
})

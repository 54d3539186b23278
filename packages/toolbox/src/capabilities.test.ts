import { expect, test, vi } from "vitest"
import { artifactGuidance, defineTool, detectCapabilities, listTools } from "./index.ts"

const tool = (name: string, more: object = {}) =>
  defineTool({ name, description: name, parameters: { type: "object" }, execute: () => null, ...more })

test("tools whose needs are not met are set apart with what is missing; each need is probed once", async () => {
  const probe = vi.fn((name: string) => {
    if (name === "bin:boom") throw new Error("no")
    return { available: name === "bin:git", detail: `set ${name}` }
  })
  const tools = [
    tool("a"),
    tool("b", { capabilities: ["bin:git"] }),
    tool("c", { capabilities: ["env:KEY", "bin:git"] }),
    tool("d", { capabilities: ["bin:boom"] }),
  ]
  const { available, unavailable } = await detectCapabilities(tools, probe)
  expect(available.map(({ name }) => name)).toEqual(["a", "b"])
  expect(unavailable[0]).toMatchObject({
    tool: { name: "c" },
    missing: [{ capability: "env:KEY", detail: "set env:KEY" }],
  })
  expect(unavailable[1]?.missing[0]?.detail).toContain("could not be checked")
  expect(probe).toHaveBeenCalledTimes(3)
})

test("artifacts at hand say what can go next and what is missing", () => {
  const tools = [
    tool("outline", { consumes: ["analysis"], produces: ["outline"] }),
    tool("publish", { consumes: ["content"] }),
    tool("other"),
  ]
  const { ready, waiting } = artifactGuidance(tools, new Set(["analysis"]))
  expect(ready.map(({ name }) => name)).toEqual(["outline"])
  expect(waiting).toMatchObject([{ tool: { name: "publish" }, missing: ["content"] }])
})

test("discovery shows the schema of the parameters", () => {
  expect(listTools([tool("a")])).toEqual([
    { name: "a", description: "a", inputSchema: { type: "object" }, category: "utility", optionality: "optional" },
  ])
})

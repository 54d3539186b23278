import { describe, expect, it } from "vitest"
import { formatterById, getFormatter } from "./index.ts"

describe("the first formats", () => {
  it("reads a call in tags with braces and the closing tag in a string", () => {
    const { calls, content } = formatterById("hermes").parse('Let me see.\n<tool_call>\n{"name": "f", "arguments": {"a": [1, {"x": "}</tool_call>"}]}}\n</tool_call>')
    expect(calls).toEqual([{ id: "call_0", name: "f", args: { a: [1, { x: "}</tool_call>" }] } }])
    expect(content).toBe("Let me see.")
  })

  it("does not lose the calls around one that cannot be read", () => {
    const block = (body: string) => `<tool_call>\n${body}\n</tool_call>\n`
    const reply = formatterById("qwen2.5").parse(block('{"name": "a", "arguments": {}}') + block('{"name": "b", "arguments": {x}}') + block('{"name": "c", "arguments": {}}'))
    expect(reply.calls.map((call) => call.name)).toEqual(["a", "c"])
    expect(reply.problems).toMatchObject([{ kind: "invalid-arguments", repaired: false }])
  })

  it("refuses to read Claude's calls from text", () => {
    expect(() => getFormatter("claude-sonnet").parseToolCalls("x")).toThrow("use ParseAPIResponse for Claude API responses")
  })
})

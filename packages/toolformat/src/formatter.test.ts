import { describe, expect, it } from "vitest"
import { collectReply, createParser } from "./engine/parser.ts"
import { formatterById, formatterOf, getFormatter, type Format } from "./index.ts"
import { formatById } from "./selector/index.ts"

describe("the first formats", () => {
  it("reads a call in tags with braces and the closing tag in a string", () => {
    const { calls, content } = formatterById("hermes").parse(
      'Let me see.\n<tool_call>\n{"name": "f", "arguments": {"a": [1, {"x": "}</tool_call>"}]}}\n</tool_call>',
    )
    expect(calls).toEqual([{ id: "call_0", name: "f", arguments: { a: [1, { x: "}</tool_call>" }] } }])
    expect(content).toBe("Let me see.")
  })

  it("reads in a format alone no other family's calls, whatever was read in it before", () => {
    const format = { ...formatById("phi4-mini"), id: "read-twice" }
    const reply = '{"name": "f", "arguments": {"a": 1}}'
    expect(formatterOf(format).parse(reply).calls).toHaveLength(1)
    const alone = createParser(format, [])
    expect(collectReply([...alone.push(reply), ...alone.end()]).calls).toEqual([])
    expect(formatterOf(format).parse(reply).calls).toHaveLength(1)
  })

  it("finds calls whose mark begins beyond ASCII, wherever the reply is cut", () => {
    const formatter = formatterOf({
      ...formatById("hermes"),
      id: "brackets",
      calls: [{ codec: "named", open: ["⟦call name="], middle: ["⟧"], close: ["⟦/call⟧"] }],
    })
    const reply = 'See.\n⟦call name=f⟧{"a": "⟦/call⟧"}⟦/call⟧⟦call name=g⟧{}⟦/call⟧ Done ⟦'
    const parser = formatter.createParser()
    const events = [...[...reply].flatMap((character) => parser.push(character)), ...parser.end()]
    expect(events.flatMap((event) => (event.type === "call-end" ? [event.call.name] : []))).toEqual(["f", "g"])
    expect(formatter.parse(reply)).toMatchObject({
      calls: [
        { name: "f", arguments: { a: "⟦/call⟧" } },
        { name: "g", arguments: {} },
      ],
      content: "See. Done ⟦",
      problems: [],
    })
  })

  it("does not lose the calls around one that cannot be read", () => {
    const block = (body: string) => `<tool_call>\n${body}\n</tool_call>\n`
    const reply = formatterById("qwen2.5").parse(
      block('{"name": "a", "arguments": {}}') +
        block('{"name": "b", "arguments": {x}}') +
        block('{"name": "c", "arguments": {}}'),
    )
    expect(reply.calls.map((call) => call.name)).toEqual(["a", "c"])
    expect(reply.problems).toMatchObject([{ kind: "invalid-arguments", repaired: false }])
  })

  it("numbers calls by their place in the conversation, in each family's form", () => {
    const ids = (format: string, text: string, callsBefore?: number) =>
      formatterById(format)
        .parse(text, callsBefore === undefined ? {} : { callsBefore })
        .calls.map((call) => call.id)
    expect(ids("hermes", '<tool_call>{"name": "f"}</tool_call>', 4)).toEqual(["call_4"])
    expect(ids("mistral-v11", "[TOOL_CALLS]f[ARGS]{}[TOOL_CALLS]f[ARGS]{}")).toEqual(["call00000", "call00001"])
    expect(
      ids("mistral-small-3.2", "[TOOL_CALLS]f[CALL_ID]abcDEF123[ARGS]{}[TOOL_CALLS]f[CALL_ID]toolong[ARGS]{}"),
    ).toEqual(["abcDEF123", "call00001"])
    expect(ids("kimi-k2", "<|tool_call_begin|>functions.f:7<|tool_call_argument_begin|>{}<|tool_call_end|>")).toEqual([
      "functions.f:7",
    ])
    expect(ids("kimi-k2", "<|tool_call_begin|>f<|tool_call_argument_begin|>{}<|tool_call_end|>", 3)).toEqual([
      "functions.f:3",
    ])
    expect(ids("command-r7b", '<|START_ACTION|>[{"tool_name": "f", "parameters": {}}]<|END_ACTION|>', 2)).toEqual(["2"])
  })

  it("refuses to read Claude's calls from text", () => {
    expect(() => getFormatter("claude-sonnet").parseToolCalls("x")).toThrow(
      "use ParseAPIResponse for Claude API responses",
    )
  })
})

describe("a family whose end of a call begins as its parameters do", () => {
  const wren: Format = {
    id: "wren",
    aliases: [],
    title: "[[call:name]][[key]]value[[/]][[end]]",
    calls: [
      {
        codec: "parameters",
        call: { open: ["[[call:"], nameEnd: ["]]"], close: ["[[end]]"] },
        parameter: { open: ["[["], keyEnd: ["]]"], close: ["[[/]]"] },
      },
    ],
    ids: "call",
    stop: [],
    prompt: () => "",
    result: () => "",
    templateMarkers: [],
  }
  const read = (text: string) => {
    const { calls, problems } = formatterOf(wren).parse(text)
    return { calls: calls.map((call) => [call.name, call.arguments]), problems: problems.map(({ message }) => message) }
  }

  it("ends there, with parameters and without", () => {
    expect(read("[[call:look_up]][[word]]parrot[[/]][[end]][[call:ping]][[end]]")).toEqual({
      calls: [
        ["look_up", { word: "parrot" }],
        ["ping", {}],
      ],
      problems: [],
    })
  })

  it("ends there also where a parameter's own end is missing", () => {
    expect(read("[[call:look_up]][[word]]parrot[[end]]").calls).toEqual([["look_up", { word: "parrot" }]])
  })
})

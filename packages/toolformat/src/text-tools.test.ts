import { createMatcher, grammar, matchesGbnf } from "@toolwright/logits"
import { defineTool } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import {
  collectReply,
  createOpenAIStreamDecoder,
  createResponsesStreamDecoder,
  decodeResponsesResponse,
} from "./api/index.ts"
import { FORMATS } from "./formats/index.ts"
import { toolOf } from "./fixtures/support.ts"
import { formatterOf, fromOpenAIMessages, grammarFor, grammarText, structuralTagFor, toolsFromJson } from "./index.ts"

const calculate = defineTool({
  name: "calculate",
  description: "Works a sum out",
  input: grammar.lark('start: start "+" item | item\nitem: /[0-9]+/ | "\\"" /[^"]*/ "\\""'),
  execute: (text) => text.length,
})
const ping = toolOf({ name: "ping" })
const TOOLS = [calculate, ping]
const RIGHT = '1+"a (b) <i>\n, c"+23'
const WRONG = '1+"a (b)"+'

const formats = FORMATS.filter((format) => format.apiOnly === undefined)

describe.each(formats.map((format) => [format.id, format] as const))("a tool of one text in %s", (_, format) => {
  const formatter = formatterOf(format)
  const id = format.ids === "ordinal" ? "0" : "call00000"
  const print = (input: string): string =>
    formatter.printCalls([{ id, name: "calculate", arguments: { input } }], TOOLS)

  test("is held to its grammar within the family's envelope, and read again", () => {
    const matcher = createMatcher(grammarFor(format, TOOLS, { mode: "call" }))
    const { text, refused } = grammarText(format, TOOLS, { mode: "call" })
    expect(refused).toEqual([])
    for (const [input, isRight] of [
      [RIGHT, true],
      [WRONG, false],
    ] as const) {
      matcher.reset()
      const printed = print(input)
      expect([printed, matcher.accept(printed) && matcher.isComplete()]).toEqual([printed, isRight])
      expect([printed, matchesGbnf(text, printed)]).toEqual([printed, isRight])
    }
    expect(formatter.parse(print(RIGHT), { tools: TOOLS }).calls).toMatchObject([{ arguments: { input: RIGHT } }])
  })

  test("is told with its grammar, and held by structural tags", () => {
    expect(formatter.formatToolsForPrompt(TOOLS)).toContain("[0-9]+")
    const { tag, refused } = structuralTagFor(format, TOOLS, { mode: "call" })
    expect(refused).toEqual([])
    expect(JSON.stringify(tag)).toContain('"type":"grammar"')
  })
})

test("a grammar that no family can hold costs its own tool the grammar alone, and its text is checked all the same", () => {
  const hidden = defineTool({
    name: "hidden",
    description: "",
    input: grammar.lark('start: a\na: m a "x" | "y"\nm: "z"?'),
    execute: () => 1,
  })
  const { text, refused } = grammarText("hermes", [hidden, calculate], { mode: "call" })
  expect(refused).toMatchObject([{ tool: "hidden", reason: expect.stringContaining("begins with itself") }])
  const call = (name: string, input: string) =>
    `<tool_call>\n${JSON.stringify({ name, arguments: { input } }).replace('"arguments":{', '"arguments": {').replace('","arguments"', '", "arguments"').replace('{"name":', '{"name": ')}\n</tool_call>`
  expect(matchesGbnf(text, call("hidden", "anything"))).toBe(true)
  expect(matchesGbnf(text, call("calculate", "anything"))).toBe(false)
})

describe("OpenAI's custom tools", () => {
  const events = (text: string) => [
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "custom_tool_call", call_id: "c", name: "calculate", input: "" },
    },
    ...Array.from(text, (delta) => ({ type: "response.custom_tool_call_input.delta", output_index: 0, delta })),
    { type: "response.custom_tool_call_input.done", output_index: 0, input: text },
    {
      type: "response.output_item.done",
      output_index: 0,
      item: { type: "custom_tool_call", call_id: "c", name: "calculate", input: text },
    },
    { type: "response.completed", response: { status: "completed" } },
  ]
  const call = (input: string) => ({ id: "c", name: "calculate", arguments: { input } })
  const text = 'Grüße "\\\n 👋'

  test("a call of the Responses API is one of a text, streamed or whole, and one that is cut is none", () => {
    const decode = (list: unknown[]) => {
      const decoder = createResponsesStreamDecoder()
      return collectReply([...list.flatMap((one) => decoder.push(one)), ...decoder.end()])
    }
    expect(decode(events(text))).toMatchObject({ calls: [call(text)], problems: [], finishReason: "tool-calls" })
    expect(decode(events("")).calls).toEqual([call("")])
    expect(decode(events(text).slice(0, 4))).toMatchObject({ calls: [], problems: [{ kind: "invalid-arguments" }] })
    const output = [{ type: "custom_tool_call", call_id: "c", name: "calculate", input: text }]
    expect(decodeResponsesResponse({ status: "completed", output }).calls).toEqual([call(text)])
  })

  test("a call of the chat API likewise", () => {
    const chunk = (custom: object, head: object = {}) => ({
      choices: [
        { index: 0, delta: { tool_calls: [{ index: 0, ...head, type: "custom", custom }] }, finish_reason: null },
      ],
    })
    const decode = (reason: string) => {
      const decoder = createOpenAIStreamDecoder()
      const [first, ...rest] = [...text]
      const chunks = [chunk({ name: "calculate", input: first }, { id: "c" }), ...rest.map((input) => chunk({ input }))]
      const end = { choices: [{ index: 0, delta: {}, finish_reason: reason }] }
      return collectReply([...[...chunks, end].flatMap((one) => decoder.push(one)), ...decoder.end()])
    }
    expect(decode("tool_calls")).toMatchObject({ calls: [call(text)], problems: [] })
    expect(decode("length").calls).toEqual([])
    expect(
      fromOpenAIMessages([
        { role: "assistant", tool_calls: [{ id: "c", type: "custom", custom: { name: "calculate", input: text } }] },
      ]),
    ).toMatchObject([{ toolCalls: [call(text)] }])
  })

  test("are read from JSON in both forms, with their grammar", () => {
    const format = { type: "grammar", syntax: "regex", definition: "[0-9]+" }
    const flat = { type: "custom", name: "a", format }
    const nested = {
      type: "custom",
      custom: { name: "b", format: { type: "grammar", grammar: { syntax: "regex", definition: "[0-9]+" } } },
    }
    for (const tool of toolsFromJson([flat, nested])) {
      const { text } = grammarText("hermes", [tool], { mode: "call" })
      const printed = (input: string) =>
        formatterOf(FORMATS.find(({ id }) => id === "hermes")!).printCalls(
          [{ id: "1", name: tool.name, arguments: { input } }],
          [tool],
        )
      expect([matchesGbnf(text, printed("12")), matchesGbnf(text, printed("x"))]).toEqual([true, false])
    }
    expect(() => toolsFromJson([{ ...flat, format: { syntax: "lark", definition: "start: x" } }])).toThrow(
      /tool 'a' cannot be read: .*'x' is not defined/,
    )
  })
})

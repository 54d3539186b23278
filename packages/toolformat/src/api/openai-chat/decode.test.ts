import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { collectReply, type ApiEvent } from "../events.ts"
import { createOpenAIStreamDecoder, decodeOpenAIResponse } from "./decode.ts"

const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const piece = (index: number, args: string, head: object = {}) =>
  chunk({
    tool_calls: [{ index, ...head, function: { ...("name" in head ? { name: head.name } : {}), arguments: args } }],
  })

function stream(chunks: unknown[]): ApiEvent[] {
  const decoder = createOpenAIStreamDecoder()
  return [...chunks.flatMap((each) => decoder.push(each)), ...decoder.end()]
}

describe("a streamed chat completion", () => {
  test("gives text, reasoning under either name, finish and usage", () => {
    const events = stream([
      chunk({ role: "assistant", content: "" }),
      chunk({ reasoning_content: "why", reasoning: "why" }),
      chunk({ reasoning: " not" }),
      chunk({ content: "yes" }),
      chunk({}, "stop"),
      {
        choices: [],
        usage: { prompt_tokens: 3, completion_tokens: 2, completion_tokens_details: { reasoning_tokens: 1 } },
      },
    ])
    expect(events).toEqual([
      { type: "reasoning-delta", text: "why" },
      { type: "reasoning-delta", text: " not" },
      { type: "text-delta", text: "yes" },
      { type: "finish", finishReason: "stop" },
      { type: "usage", usage: { inputTokens: 3, outputTokens: 2, reasoningTokens: 1 } },
    ])
  })

  test("puts interleaved parallel calls together and lets argument pieces through as they come", () => {
    const events = stream([
      piece(0, "", { id: "a", name: "f" }),
      piece(1, '{"y"', { id: "b", name: "g" }),
      piece(0, '{"x":'),
      piece(1, ":2}"),
      piece(0, "1}"),
      chunk({}, "tool_calls"),
    ])
    expect(events.filter((event) => event.type === "args-delta")).toEqual([
      { type: "args-delta", index: 1, text: '{"y"' },
      { type: "args-delta", index: 0, text: '{"x":' },
      { type: "args-delta", index: 1, text: ":2}" },
      { type: "args-delta", index: 0, text: "1}" },
    ])
    expect(collectReply(events)).toMatchObject({
      calls: [
        { id: "a", name: "f", arguments: { x: 1 } },
        { id: "b", name: "g", arguments: { y: 2 } },
      ],
      finishReason: "tool-calls",
      problems: [],
    })
  })

  test.each(["", "  ", "null"])("takes %j for no arguments", (text) => {
    const events = stream([piece(0, text, { id: "a", name: "now" }), chunk({}, "tool_calls")])
    expect(collectReply(events).calls).toEqual([{ id: "a", name: "now", arguments: {} }])
    expect(events.filter((event) => event.type === "args-delta")).toEqual([
      { type: "args-delta", index: 0, text: "{}" },
    ])
  })

  test("reports arguments that are no object and goes on with the other calls", () => {
    const reply = collectReply(
      stream([piece(0, '{"x":', { id: "a", name: "f" }), piece(1, "{}", { id: "b", name: "g" }), chunk({}, "length")]),
    )
    expect(reply.calls).toEqual([{ id: "b", name: "g", arguments: {} }])
    expect(reply.problems).toMatchObject([{ kind: "invalid-arguments", text: '{"x":', repaired: false }])
    expect(reply.finishReason).toBe("length")
  })

  test("decodes arguments that were encoded twice, and says so", () => {
    const reply = collectReply(stream([piece(0, JSON.stringify('{"x":1}'), { id: "a", name: "f" })]))
    expect(reply.calls).toEqual([{ id: "a", name: "f", arguments: { x: 1 } }])
    expect(reply.problems).toMatchObject([{ kind: "invalid-arguments", repaired: true }])
  })

  test("tells calls apart where the server numbers all of them 0, or none", () => {
    const zero = stream([piece(0, "{}", { id: "a", name: "f" }), piece(0, "{}", { id: "b", name: "f" })])
    expect(collectReply(zero).calls.map((call) => call.id)).toEqual(["a", "b"])
    const bare = (args: string, name: string) => chunk({ tool_calls: [{ function: { name, arguments: args } }] })
    const none = stream([bare("{}", "f"), bare('{"x":1}', "f"), bare("{}", "g")])
    expect(collectReply(none).calls).toEqual([
      { id: "call_0", name: "f", arguments: {} },
      { id: "call_1", name: "f", arguments: { x: 1 } },
      { id: "call_2", name: "g", arguments: {} },
    ])
  })

  test("does not lose a call whose server never says that it ended", () => {
    expect(collectReply(stream([piece(0, "{}", { id: "a", name: "f" })])).calls).toHaveLength(1)
  })

  test.each([[], [chunk({}, "length")]])(
    "does not take a call that broke off before its arguments for one without any",
    (...end) => {
      const reply = collectReply(stream([piece(0, "", { id: "a", name: "f" }), ...end]))
      expect(reply.calls).toEqual([])
      expect(reply.problems).toMatchObject([{ kind: "unterminated-call", text: "f" }])
    },
  )

  test("passes on a failure inside the stream", () => {
    expect(stream([{ error: { message: "out of memory", code: 500 } }])).toEqual([
      { type: "error", code: "500", message: "out of memory" },
    ])
  })

  test("never throws, whatever the chunk is", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.anything(), fc.record({ choices: fc.array(fc.record({ delta: fc.anything() })) }))),
        (chunks) => {
          stream(chunks)
        },
      ),
    )
  })

  test("any cutting of the arguments gives the same calls, and the deltas join to their JSON", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.nat(40)), (args, cuts) => {
        const text = JSON.stringify(args)
        const chunks: unknown[] = [piece(0, "", { id: "a", name: "f" })]
        let at = 0
        for (const cut of cuts) {
          chunks.push(piece(0, text.slice(at, at + cut)))
          at += cut
        }
        if (at < text.length) chunks.push(piece(0, text.slice(at)))
        const events = stream(chunks)
        expect(JSON.stringify(collectReply(events).calls[0]?.arguments)).toBe(JSON.stringify(JSON.parse(text)))
        expect(events.map((event) => (event.type === "args-delta" ? event.text : "")).join("")).toBe(text)
      }),
    )
  })
})

describe("a whole chat completion", () => {
  test("is the stream in one chunk", () => {
    const reply = decodeOpenAIResponse({
      choices: [
        {
          message: {
            content: null,
            tool_calls: [
              { id: "a", type: "function", function: { name: "f", arguments: '{"x":1}' } },
              { type: "function", function: { name: "f", arguments: { x: 2 } } },
            ],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2 },
    })
    expect(reply).toEqual({
      calls: [
        { id: "a", name: "f", arguments: { x: 1 } },
        { id: "call_1", name: "f", arguments: { x: 2 } },
      ],
      content: "",
      reasoning: "",
      problems: [],
      finishReason: "tool-calls",
      usage: { inputTokens: 1, outputTokens: 2 },
    })
  })

  test("reads content in parts, with the thoughts in them", () => {
    const content = [
      { type: "thinking", thinking: [{ type: "text", text: "hm" }] },
      { type: "text", text: "ok" },
    ]
    expect(decodeOpenAIResponse({ choices: [{ message: { content } }] })).toMatchObject({
      content: "ok",
      reasoning: "hm",
    })
  })
})

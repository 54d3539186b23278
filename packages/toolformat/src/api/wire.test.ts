import { defineTool, type ToolCall } from "@toolwright/toolbox"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { ChatMessage } from "../model/message.ts"
import {
  collectReply,
  createAnthropicStreamDecoder,
  createGeminiStreamDecoder,
  createOllamaStreamDecoder,
  createOpenAIStreamDecoder,
  createResponsesStreamDecoder,
  decodeAnthropicResponse,
  decodeGeminiResponse,
  decodeOllamaResponse,
  decodeOpenAIResponse,
  decodeResponsesResponse,
  fromOpenAIMessages,
  toAnthropicMessages,
  toAnthropicTools,
  toGeminiContents,
  toGeminiTools,
  toOllamaMessages,
  toOpenAIMessages,
  toResponsesInput,
  toResponsesTools,
  type ApiReply,
  type ApiStreamDecoder,
} from "./index.ts"

const calls: ToolCall[] = [
  { id: "call_0", name: "add", arguments: { a: 1, note: 'say "ü"\n{' } },
  { id: "call_1", name: "now", arguments: {} },
]
const conversation: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "Add." },
  { role: "assistant", content: "Sure.", toolCalls: calls },
  { role: "tool", content: '{"sum":3}', callId: "call_0", name: "add", success: true },
  { role: "tool", content: "no clock", callId: "call_1", name: "now", success: false },
  { role: "user", content: "Thanks." },
]

interface Wire {
  name: string
  create(): ApiStreamDecoder
  decode(body: unknown): ApiReply
  /** The assistant's message of the conversation, as the API would have answered it. */
  answer(): unknown
  /** The same as a stream, one object each. */
  stream(): unknown[]
  failure: unknown
}

const openaiAnswer = {
  choices: [{ message: toOpenAIMessages(conversation)[2], finish_reason: "tool_calls" }],
  usage: { prompt_tokens: 5, completion_tokens: 7 },
}
const anthropicBlocks = toAnthropicMessages(conversation).messages[1]!.content
const geminiParts = toGeminiContents(conversation).contents[1]!.parts
const ollamaMessage = toOllamaMessages(conversation)[2]!
const responsesItems = toResponsesInput(conversation)
  .slice(2, 5)
  .map((item, index) => ({ ...item, ...(index === 0 ? { type: "message" } : {}) }))

const WIRES: Wire[] = [
  {
    name: "OpenAI chat",
    create: createOpenAIStreamDecoder,
    decode: decodeOpenAIResponse,
    answer: () => openaiAnswer,
    stream: () => [
      { choices: [{ delta: { content: "Sure." } }] },
      ...calls.flatMap((call, index) => [
        {
          choices: [{ delta: { tool_calls: [{ index, id: call.id, function: { name: call.name, arguments: "" } }] } }],
        },
        ...(index === 0 ? [...JSON.stringify(call.arguments)] : []).map((piece) => ({
          choices: [{ delta: { tool_calls: [{ index, function: { arguments: piece } }] } }],
        })),
      ]),
      { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
      { choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } },
    ],
    failure: { error: { message: "no", code: "bad" } },
  },
  {
    name: "OpenAI Responses",
    create: createResponsesStreamDecoder,
    decode: decodeResponsesResponse,
    answer: () => ({ status: "completed", output: responsesItems, usage: { input_tokens: 5, output_tokens: 7 } }),
    stream: () => [
      { type: "response.created", response: {} },
      { type: "response.output_item.added", output_index: 0, item: { type: "message", content: [] } },
      { type: "response.output_text.delta", output_index: 0, delta: "Su" },
      { type: "response.output_text.delta", output_index: 0, delta: "re." },
      { type: "response.output_item.done", output_index: 0, item: responsesItems[0] },
      ...calls.flatMap((call, at) => {
        const output_index = at + 1
        const text = at === 0 ? JSON.stringify(call.arguments) : ""
        return [
          {
            type: "response.output_item.added",
            output_index,
            item: { type: "function_call", call_id: call.id, name: call.name, arguments: "" },
          },
          ...[...text].map((delta) => ({ type: "response.function_call_arguments.delta", output_index, delta })),
          { type: "response.function_call_arguments.done", output_index, arguments: text },
          {
            type: "response.output_item.done",
            output_index,
            item: { ...responsesItems[output_index], arguments: text },
          },
        ]
      }),
      { type: "response.completed", response: { status: "completed", usage: { input_tokens: 5, output_tokens: 7 } } },
    ],
    failure: { type: "error", code: "bad", message: "no" },
  },
  {
    name: "Anthropic",
    create: createAnthropicStreamDecoder,
    decode: decodeAnthropicResponse,
    answer: () => ({
      type: "message",
      content: anthropicBlocks,
      stop_reason: "tool_use",
      usage: { input_tokens: 5, output_tokens: 7 },
    }),
    stream: () => [
      { type: "message_start", message: { usage: { input_tokens: 5 } } },
      { type: "ping" },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Sure." } },
      { type: "content_block_stop", index: 0 },
      ...calls.flatMap((call, at) => [
        {
          type: "content_block_start",
          index: at + 1,
          content_block: { type: "tool_use", id: call.id, name: call.name, input: {} },
        },
        ...(at === 0 ? [...JSON.stringify(call.arguments)] : [""]).map((partial_json) => ({
          type: "content_block_delta",
          index: at + 1,
          delta: { type: "input_json_delta", partial_json },
        })),
        { type: "content_block_stop", index: at + 1 },
      ]),
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 7 } },
      { type: "message_stop" },
    ],
    failure: { type: "error", error: { type: "bad", message: "no" } },
  },
  {
    name: "Gemini",
    create: createGeminiStreamDecoder,
    decode: decodeGeminiResponse,
    answer: () => ({
      candidates: [{ content: { parts: geminiParts }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7 },
    }),
    stream: () => [
      ...geminiParts.map((part) => ({ candidates: [{ content: { parts: [part] } }] })),
      {
        candidates: [{ content: { parts: [{ text: "" }] }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 7 },
      },
    ],
    failure: { error: { status: "bad", message: "no" } },
  },
  {
    name: "Ollama",
    create: createOllamaStreamDecoder,
    decode: decodeOllamaResponse,
    answer: () => ({ message: ollamaMessage, done: true, done_reason: "stop", prompt_eval_count: 5, eval_count: 7 }),
    stream: () => [
      { message: { role: "assistant", content: "Sure." }, done: false },
      ...(ollamaMessage.tool_calls as unknown[]).map((call) => ({
        message: { role: "assistant", content: "", tool_calls: [call] },
        done: false,
      })),
      {
        message: { role: "assistant", content: "" },
        done: true,
        done_reason: "stop",
        prompt_eval_count: 5,
        eval_count: 7,
      },
    ],
    failure: { error: "no" },
  },
]

describe.each(WIRES)("$name", ({ create, decode, answer, stream, failure }) => {
  const expected = {
    calls,
    content: "Sure.",
    reasoning: "",
    problems: [],
    finishReason: "tool-calls",
    usage: { inputTokens: 5, outputTokens: 7 },
  }
  const run = (events: unknown[]) => {
    const decoder = create()
    return [...events.flatMap((event) => decoder.push(event)), ...decoder.end()]
  }

  test("what we write, decoded as an answer, is the same calls", () => {
    expect(decode(answer())).toEqual(expected)
  })

  test("the stream gives the same as the whole", () => {
    const events = run(stream())
    expect(collectReply(events)).toEqual(expected)
    for (const [index, call] of calls.entries()) {
      const text = events
        .map((event) => (event.type === "args-delta" && event.index === index ? event.text : ""))
        .join("")
      expect(text).toBe(JSON.stringify(call.arguments))
    }
    expect(events.filter((event) => event.type === "call-start")).toHaveLength(2)
    expect(events.filter((event) => event.type === "call-end")).toHaveLength(2)
  })

  test("a failure inside the answer is told, not thrown", () => {
    expect(collectReply(run([failure])).error).toMatchObject({ message: "no" })
  })

  test("a stream that breaks off anywhere gives no wrong call", () => {
    const whole = stream()
    for (let end = 0; end < whole.length; end += 1) {
      for (const call of collectReply(run(whole.slice(0, end))).calls) expect(calls).toContainEqual(call)
    }
  })

  test("nothing makes it throw", () => {
    const broken = fc.anything().map((value) => value)
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            broken,
            fc.constantFrom(...stream()),
            fc.record({
              type: fc.constantFrom(
                "content_block_start",
                "content_block_delta",
                "response.output_item.done",
                "message_delta",
              ),
              index: fc.anything(),
              item: fc.anything(),
              content_block: fc.anything(),
              delta: fc.anything(),
            }),
          ),
        ),
        (events) => {
          run(events)
          for (const event of events) decode(event)
        },
      ),
      { numRuns: 200 },
    )
  })
})

test("Anthropic: a call at the token limit has no arguments only if something follows it", () => {
  const start = (index: number) => ({
    type: "content_block_start",
    index,
    content_block: { type: "tool_use", id: `t${index}`, name: "now", input: {} },
  })
  const read = (...events: object[]) => {
    const decoder = createAnthropicStreamDecoder()
    return collectReply([...events.flatMap((event) => decoder.push(event)), ...decoder.end()])
  }
  const stop = (index: number) => ({ type: "content_block_stop", index })
  const end = (stop_reason: string) => ({ type: "message_delta", delta: { stop_reason } })
  expect(read(start(0), stop(0), end("tool_use")).calls).toHaveLength(1)
  expect(read(start(0), stop(0), start(1), stop(1), end("max_tokens"))).toMatchObject({
    calls: [{ id: "t0", arguments: {} }],
    problems: [{ kind: "unterminated-call" }],
  })
  expect(read(start(0), stop(0)).calls).toEqual([])
})

describe("requests", () => {
  test("Anthropic: roles alternate, results come first, failures are marked, ids are safe", () => {
    const kimi = { id: "functions.add:0", name: "add", arguments: {} }
    const { system, messages } = toAnthropicMessages([
      ...conversation,
      { role: "assistant", content: "", toolCalls: [kimi] },
      { role: "tool", content: "x", callId: kimi.id, name: "add", success: true },
    ])
    expect(system).toBe("Be brief.")
    expect(messages.map((message) => message.role)).toEqual(["user", "assistant", "user", "assistant", "user"])
    expect(messages[2]?.content.map((block) => [block.type, block.is_error])).toEqual([
      ["tool_result", undefined],
      ["tool_result", true],
      ["text", undefined],
    ])
    expect(messages[3]?.content).toEqual([{ type: "tool_use", id: "functions_add_0", name: "add", input: {} }])
    expect(messages[4]?.content).toMatchObject([{ tool_use_id: "functions_add_0" }])
  })

  test("Gemini: results are objects, failures under error, signatures go back", () => {
    const { contents } = toGeminiContents(conversation, { signatures: { call_0: "sig" } })
    expect(contents[1]?.parts[1]).toMatchObject({ functionCall: { name: "add" }, thoughtSignature: "sig" })
    expect(contents[2]?.parts.slice(0, 2)).toEqual([
      { functionResponse: { name: "add", response: { sum: 3 } } },
      { functionResponse: { name: "now", response: { error: "no clock" } } },
    ])
    const reply = decodeGeminiResponse({
      candidates: [{ content: { parts: [{ functionCall: { name: "f" }, thoughtSignature: "abc" }] } }],
    })
    expect(reply.signatures).toEqual({ call_0: "abc" })
  })

  test("Gemini: one bad schema does not take the others along", () => {
    const tool = defineTool({
      name: "ok",
      description: "Fine",
      parameters: { type: "object", properties: { a: { type: "string" } } },
      execute: () => 0,
    })
    const { tools, lowered } = toGeminiTools([
      tool,
      { ...tool, name: "bad", parameters: { type: "object", properties: { a: { $ref: "#/nowhere" } } } },
    ])
    expect(tools).toMatchObject([{ functionDeclarations: [{ name: "ok" }] }])
    expect(lowered.quarantined.map((each) => each.tool.name)).toEqual(["bad"])
  })

  test("the flat tool forms", () => {
    const tool = defineTool({ name: "f", description: "d", parameters: { type: "object" }, execute: () => 0 })
    expect(toAnthropicTools([tool])).toEqual([{ name: "f", description: "d", input_schema: tool.parameters }])
    expect(toResponsesTools([tool])).toEqual([
      { type: "function", name: "f", description: "d", parameters: tool.parameters, strict: false },
    ])
  })

  test("sounds are refused where an API takes none", () => {
    const messages: ChatMessage[] = [
      { role: "user", content: "", media: [{ type: "audio", mimeType: "audio/wav", base64: "" }] },
    ]
    for (const encode of [toAnthropicMessages, toOllamaMessages, toResponsesInput])
      expect(() => encode(messages)).toThrow("takes no audio")
  })

  test("OpenAI messages are read back as they were written", () => {
    const results = conversation.map((message) => (message.role === "tool" ? { ...message, success: true } : message))
    expect(fromOpenAIMessages(toOpenAIMessages(conversation))).toEqual(results)
    expect(
      fromOpenAIMessages([
        { role: "assistant", content: null, tool_calls: [{ id: "x", function: { name: "f", arguments: "{oops" } }] },
        { role: "tool", tool_call_id: "x", content: [{ type: "text", text: "y" }] },
        7,
      ]),
    ).toEqual([
      { role: "assistant", content: "", toolCalls: [{ id: "x", name: "f", arguments: { _raw: "{oops" } }] },
      { role: "tool", content: "y", callId: "x", name: "f", success: true },
    ])
  })
})

import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import { createCallAssembler } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import type { InferRequest } from "../model/backend.ts"
import { collectEvents, joined } from "../testing/collect-events.ts"
import { event, startServer, stream } from "../testing/raw-server.ts"
import { createOpenAICompatibleBackend, type OpenAICompatibleOptions } from "./backend.ts"

const messages: ChatMessage[] = [{ role: "user", content: "Hello" }]
const tool: OpenAITool = {
  type: "function",
  function: { name: "search", description: "Finds text", parameters: { type: "object" } },
}

/** A backend whose waits between tries take no time but are noted. */
function backendFor(baseUrl: string, options: Partial<OpenAICompatibleOptions> = {}) {
  const waits: number[] = []
  const sleep = (milliseconds: number) => {
    waits.push(milliseconds)
    return Promise.resolve()
  }
  return { waits, backend: createOpenAICompatibleBackend({ baseUrl, modelName: "m", sleep, ...options }) }
}

const ask = (baseUrl: string, options: Partial<OpenAICompatibleOptions> = {}, request: Partial<InferRequest> = {}) =>
  collectEvents(backendFor(baseUrl, options).backend.infer({ messages, ...request }))

test("texts that come in one piece are told as one, and nothing moves past them", async () => {
  const { baseUrl } = await startServer((response) =>
    stream(response, [
      event({ reasoning_content: "h" }) +
        event({ reasoning_content: "m" }) +
        event({ content: "a" }) +
        event({ content: "b" }) +
        event({ tool_calls: [{ index: 0, id: "c", function: { name: "search", arguments: "{}" } }] }) +
        event({ content: "c" }) +
        event({}, "stop"),
    ]),
  )
  expect(await ask(baseUrl)).toEqual([
    { type: "reasoning-delta", text: "hm" },
    { type: "text-delta", text: "ab" },
    { type: "call-delta", index: 0, id: "c", name: "search" },
    { type: "call-delta", index: 0, arguments: "{}" },
    { type: "text-delta", text: "c" },
    { type: "end", finishReason: "stop" },
  ])
})

describe("a stream", () => {
  const text =
    event({ role: "assistant", content: "" }) +
    event({ reasoning_content: "hmm… 🤔" }) +
    ": ping\n\n" +
    event({ content: "Grüße, " }) +
    event({ content: "世界 👋" }) +
    event({ tool_calls: [{ index: 0, id: "a", function: { name: "search", arguments: '{"q":"}' } }] }).replaceAll(
      "\n",
      "\r\n",
    ) +
    event({ tool_calls: [{ index: 0, function: { arguments: 'ü"}' } }] }) +
    event({}, "tool_calls") +
    `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 5 } })}\n\ndata: [DONE]\n\n`
  const expected = {
    text: "Grüße, 世界 👋",
    reasoning: "hmm… 🤔",
    call: { id: "a", name: "search", arguments: { q: "}ü" } },
    end: { type: "end", finishReason: "tool-calls", usage: { inputTokens: 7, outputTokens: 5 } },
  }

  test.each([1, 2, 3, 5, 7, 64, 100_000])("is the same when its bytes come in pieces of %i", async (size) => {
    const bytes = Buffer.from(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    const { baseUrl } = await startServer((response) => stream(response, pieces))
    const events = await ask(baseUrl, {}, { tools: [tool] })
    const calls = createCallAssembler()
    const parsed = [...events.flatMap((each) => (each.type === "call-delta" ? calls.push(each) : [])), ...calls.end()]
    expect(joined(events)).toBe(expected.text)
    expect(joined(events, "reasoning-delta")).toBe(expected.reasoning)
    expect(parsed.find((each) => each.type === "call-end")?.call).toEqual(expected.call)
    expect(events.at(-1)).toEqual(expected.end)
    expect(events.filter((each) => each.type === "end")).toHaveLength(1)
  })

  test("may come as one JSON body instead", async () => {
    const { baseUrl } = await startServer((response) => {
      const message = { content: "hi", tool_calls: [{ id: "a", function: { name: "search", arguments: "{}" } }] }
      response.end(
        JSON.stringify({
          choices: [{ message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 1, completion_tokens: 2 },
        }),
      )
    })
    expect(await ask(baseUrl, { stream: false })).toEqual([
      { type: "text-delta", text: "hi" },
      { type: "call-delta", index: 0, id: "a", name: "search" },
      { type: "call-delta", index: 0, arguments: "{}" },
      { type: "end", finishReason: "tool-calls", usage: { inputTokens: 1, outputTokens: 2 } },
    ])
  })

  test.each([
    ["cut off", '{"q":'],
    ["no object", '["q"]'],
    ["encoded twice", '"{\\"q\\":1}"'],
  ])("passes on arguments that are %s as the model wrote them", async (_, written) => {
    const { baseUrl } = await startServer((response) =>
      stream(response, [
        event({ tool_calls: [{ index: 0, id: "a", function: { name: "search", arguments: written } }] }),
        event({}, "stop"),
      ]),
    )
    const events = await ask(baseUrl)
    expect(events.map((each) => (each.type === "call-delta" ? (each.arguments ?? "") : "")).join("")).toBe(written)
  })

  test("is over at [DONE] even if the server keeps the connection", async () => {
    const { baseUrl } = await startServer((response) =>
      stream(response, [event({ content: "a" }), "data: [DONE]\n\n"], false),
    )
    expect(joined(await ask(baseUrl))).toBe("a")
  })
})

describe("a request", () => {
  const done = (response: Parameters<typeof stream>[0]) => stream(response, [event({ content: "ok" }, "stop")])

  test("carries model, messages, tools, sampling and the key", async () => {
    const { baseUrl, requests } = await startServer(done)
    await ask(
      baseUrl,
      { apiKey: "secret-1" },
      {
        tools: [tool],
        sampling: { temperature: 0, topP: 0.9, topK: 5, maxTokens: 9, stop: ["X"], seed: 1 },
        extraBody: { priority: 2 },
      },
    )
    expect(requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      headers: { authorization: "Bearer secret-1" },
      body: {
        model: "m",
        messages: [{ role: "user", content: "Hello" }],
        tools: [tool],
        tool_choice: "auto",
        temperature: 0,
        top_p: 0.9,
        max_tokens: 9,
        stop: ["X"],
        seed: 1,
        priority: 2,
        stream: true,
      },
    })
    expect(requests[0]!.body).not.toHaveProperty("top_k")
  })

  test.each([
    ["llama.cpp", { grammar: "root ::= x" }, { grammar: "root ::= x" }],
    ["vllm", { grammar: "root ::= x" }, { structured_outputs: { grammar: "root ::= x" } }],
    ["vllm", { jsonSchema: { type: "object" } }, { structured_outputs: { json: { type: "object" } } }],
    [
      "openai",
      { jsonSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
      {
        response_format: {
          type: "json_schema",
          json_schema: { strict: true, schema: { required: ["a"], additionalProperties: false } },
        },
      },
    ],
    [
      "openai",
      { jsonSchema: { type: "object", properties: { a: { type: "string" } } } },
      { response_format: { type: "json_schema", json_schema: { strict: false, schema: { type: "object" } } } },
    ],
    [
      "generic",
      { jsonSchema: { type: "object" } },
      { response_format: { type: "json_schema", json_schema: { schema: { type: "object" } } } },
    ],
    [
      "llama.cpp",
      { sampling: { topK: 5, minP: 0.1, repetitionPenalty: 1.1 } },
      { top_k: 5, min_p: 0.1, repeat_penalty: 1.1 },
    ],
    ["openai", { sampling: { maxTokens: 5 } }, { max_completion_tokens: 5 }],
  ] as const)("speaks the dialect of %s: %j", async (dialect, request, expected) => {
    const { baseUrl, requests } = await startServer(done)
    await ask(baseUrl, { dialect }, request)
    expect(requests[0]!.body).toMatchObject(expected)
  })

  test("never holds two constraints, nor one that the server does not know", async () => {
    const { baseUrl, requests } = await startServer(done)
    const grammar = "root ::= x"
    await expect(ask(baseUrl, { dialect: "llama.cpp" }, { tools: [tool], grammar })).rejects.toMatchObject({
      code: "CONFLICTING_CONSTRAINTS",
    })
    await expect(ask(baseUrl, {}, { jsonSchema: {}, grammar })).rejects.toMatchObject({
      code: "CONFLICTING_CONSTRAINTS",
    })
    await expect(ask(baseUrl, {}, { grammar })).rejects.toMatchObject({ code: "CONSTRAINT_UNSUPPORTED" })
    expect(requests).toHaveLength(0)
  })

  test("takes user and password out of the address", async () => {
    const { baseUrl, requests } = await startServer(done)
    await ask(baseUrl.replace("//", "//me:pa%20ss@"))
    expect(requests[0]!.headers.authorization).toBe(`Basic ${btoa("me:pa ss")}`)
  })
})

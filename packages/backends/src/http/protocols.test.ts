import { createCallAssembler, formatterById, type ChatMessage, type OpenAITool } from "@toolwright/toolformat"
import type { ServerResponse } from "node:http"
import { describe, expect, test } from "vitest"
import { createAnthropicBackend } from "../anthropic/index.ts"
import { createLlamaServerBackend } from "../llama-server/index.ts"
import type { Backend, InferEvent, InferRequest } from "../model/backend.ts"
import { createOllamaBackend } from "../ollama/index.ts"
import { createResponsesBackend } from "../openai-responses/index.ts"
import { collectEvents, joined } from "../testing/collect-events.ts"
import { startServer, type SeenRequest } from "../testing/raw-server.ts"
import type { ServerOptions } from "./backend.ts"

const tool: OpenAITool = {
  type: "function",
  function: {
    name: "weather",
    description: "Tells the weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
}
const CALL = { id: "call_7", name: "weather", arguments: { city: "Zürich {}" } }
const talk: ChatMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "How is it?", media: [{ type: "image", mimeType: "image/png", base64: "iVBO" }] },
  { role: "assistant", content: "I look.", reasoning: "secret", toolCalls: [CALL] },
  { role: "tool", callId: "call_7", name: "weather", content: "rain", success: false },
]

const sse = (events: readonly object[]): string =>
  events
    .map((event) => `event: ${(event as { type?: string }).type ?? "message"}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("")
const lines = (values: readonly object[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("")

/** What a kind of server writes of one answer: thoughts, text, a call in two pieces, and the counts. */
interface Wire {
  make(options: ServerOptions): Backend
  path: string
  type: string
  answer: string
  cut: string
  inStream?: { text: string; code: string }
  /** Calls come as text. */
  textual?: true
}

const json = JSON.stringify(CALL.arguments)
const half = json.slice(0, 9)

const anthropic = (stop: string, usage: object) => [
  {
    type: "message_start",
    message: {
      id: "msg_1",
      role: "assistant",
      content: [],
      usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "hmm 🤔" } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "EqQB" } },
  { type: "content_block_stop", index: 0 },
  { type: "ping" },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Grüße" } },
  { type: "content_block_stop", index: 1 },
  {
    type: "content_block_start",
    index: 2,
    content_block: { type: "tool_use", id: CALL.id, name: CALL.name, input: {} },
  },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "" } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: half } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: json.slice(9) } },
  { type: "content_block_stop", index: 2 },
  { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage },
  { type: "message_stop" },
]

const item = { type: "function_call", id: "fc_1", call_id: CALL.id, name: CALL.name }
const responses = (status: string, more: object) => [
  { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs_1", summary: [] } },
  { type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: "hmm 🤔" },
  {
    type: "response.output_item.done",
    output_index: 0,
    item: { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "hmm 🤔" }] },
  },
  { type: "response.output_item.added", output_index: 1, item: { type: "message", role: "assistant", content: [] } },
  { type: "response.output_text.delta", output_index: 1, content_index: 0, delta: "Grüße" },
  {
    type: "response.output_item.done",
    output_index: 1,
    item: { type: "message", content: [{ type: "output_text", text: "Grüße" }] },
  },
  { type: "response.output_item.added", output_index: 2, item: { ...item, arguments: "" } },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: half },
  { type: "response.function_call_arguments.delta", output_index: 2, delta: json.slice(9) },
  { type: "response.function_call_arguments.done", output_index: 2, arguments: json },
  { type: "response.output_item.done", output_index: 2, item: { ...item, arguments: json } },
  {
    type: `response.${status}`,
    response: {
      status,
      usage: { input_tokens: 7, output_tokens: 9, output_tokens_details: { reasoning_tokens: 4 } },
      ...more,
    },
  },
]

const ollama = (reason: string) => [
  {
    model: "m",
    created_at: "2026-11-22T10:00:00Z",
    message: { role: "assistant", content: "", thinking: "hmm 🤔" },
    done: false,
  },
  { model: "m", message: { role: "assistant", content: "Grüße" }, done: false },
  {
    model: "m",
    message: {
      role: "assistant",
      content: "",
      tool_calls: [{ id: CALL.id, function: { index: 0, name: CALL.name, arguments: CALL.arguments } }],
    },
    done: false,
  },
  {
    model: "m",
    message: { role: "assistant", content: "" },
    done: true,
    done_reason: reason,
    total_duration: 5,
    prompt_eval_count: 7,
    eval_count: 9,
  },
]

const written = `<think>hmm 🤔</think>Grüße<tool_call>\n{"name": "weather", "arguments": ${json}}\n</tool_call>`
const completion = (type: string) => [
  ...[...written].map((content, index) => ({
    index,
    content,
    tokens: [index],
    stop: false,
    id_slot: 0,
    tokens_predicted: index,
    tokens_evaluated: 7,
  })),
  {
    index: 0,
    content: "",
    tokens: [],
    stop: true,
    stop_type: type,
    stopping_word: "",
    tokens_predicted: 9,
    tokens_evaluated: 7,
    truncated: false,
  },
]

const WIRES: Readonly<Record<string, Wire>> = {
  anthropic: {
    make: createAnthropicBackend,
    path: "/v1/messages",
    type: "text/event-stream; charset=utf-8",
    answer: sse(anthropic("tool_use", { output_tokens: 9 })),
    cut: sse(anthropic("max_tokens", { output_tokens: 9 })),
    inStream: {
      text: sse([{ type: "error", error: { type: "invalid_request_error", message: "bad" } }]),
      code: "MODEL_REQUEST_REJECTED",
    },
  },
  "openai-responses": {
    make: createResponsesBackend,
    path: "/v1/responses",
    type: "text/event-stream",
    answer: sse(responses("completed", {})),
    cut: sse(responses("incomplete", { incomplete_details: { reason: "max_output_tokens" } })),
    inStream: {
      text: sse([{ type: "error", code: "invalid_request_error", message: "bad" }]),
      code: "MODEL_REQUEST_REJECTED",
    },
  },
  ollama: {
    make: createOllamaBackend,
    path: "/api/chat",
    type: "application/x-ndjson",
    answer: lines(ollama("stop")),
    cut: lines(ollama("length")),
    inStream: { text: lines([{ error: "model runner has unexpectedly stopped" }]), code: "MODEL_SERVER_ERROR" },
  },
  "llama-server": {
    make: createLlamaServerBackend,
    path: "/completion",
    type: "text/event-stream",
    answer: sse(completion("eos")),
    cut: sse(completion("limit")),
    inStream: {
      text: sse([{ error: { code: 400, message: "bad", type: "invalid_request_error" } }]),
      code: "MODEL_REQUEST_REJECTED",
    },
    textual: true,
  },
}

async function started(
  wire: Wire,
  reply: (response: ServerResponse, request: SeenRequest, count: number) => void,
  more: Partial<ServerOptions> = {},
) {
  const waits: number[] = []
  const sleep = (milliseconds: number) => Promise.resolve(void waits.push(milliseconds))
  const { baseUrl, requests } = await startServer(reply)
  return {
    requests,
    waits,
    backend: wire.make({ baseUrl, modelName: "qwen2.5-7b", apiKey: "secret-1", sleep, ...more }),
  }
}

/** Bytes of a stream in pieces of one size, or in one. */
const streamed =
  (type: string, text: string, size: number, end = true) =>
  (response: ServerResponse) => {
    const bytes = Buffer.from(text)
    response.writeHead(200, { "content-type": type })
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size))
    if (end) response.end()
  }

function callsIn(events: readonly InferEvent[]) {
  const assembler = createCallAssembler()
  const parsed = [
    ...events.flatMap((event) => (event.type === "call-delta" ? assembler.push(event) : [])),
    ...assembler.end(),
  ]
  return parsed.flatMap((event) => (event.type === "call-end" ? [event.call] : []))
}

const ask = (backend: Backend, request: Partial<InferRequest> = {}) =>
  collectEvents(backend.infer({ messages: [{ role: "user", content: "Hi" }], ...request }))

describe.each(Object.entries(WIRES))("a server that speaks %s", (kind, wire) => {
  const tools = wire.textual === true ? {} : { tools: [tool] }

  test.each([1, 7, 100_000])("tells thoughts, text, a call and the counts, in pieces of %i bytes", async (size) => {
    const { backend, requests } = await started(wire, streamed(wire.type, wire.answer, size))
    const events = await ask(backend, tools)
    expect(requests.map(({ path }) => path)).toEqual([wire.path])
    if (wire.textual === true) expect(joined(events)).toBe(written)
    else {
      expect([joined(events, "reasoning-delta"), joined(events)]).toEqual(["hmm 🤔", "Grüße"])
      expect(callsIn(events)).toEqual([CALL])
    }
    const finishReason = wire.textual === true ? "stop" : "tool-calls"
    expect(events.at(-1)).toMatchObject({ type: "end", finishReason, usage: { inputTokens: 7, outputTokens: 9 } })
    expect(backend).toMatchObject({ kind })
  })

  test("says that the limit ended it", async () => {
    const { backend } = await started(wire, streamed(wire.type, wire.cut, 500))
    expect((await ask(backend, tools)).at(-1)).toMatchObject({ type: "end", finishReason: "length" })
  })

  test("is over with its last value, though the connection stays", async () => {
    const { backend } = await started(wire, streamed(wire.type, wire.answer, 500, false))
    expect((await ask(backend, tools)).at(-1)).toMatchObject({ type: "end" })
  })

  test("is asked again over the connection that it has just answered on", async () => {
    const sockets = new Set<unknown>()
    let open: ServerResponse | undefined
    const { backend } = await started(wire, (response) => {
      sockets.add(response.socket)
      open = response
      streamed(wire.type, wire.answer, 500, false)(response)
    })
    let asked = 0
    // The response ends behind the last event that counts, and now and then after the next request.
    for (; asked === sockets.size && asked < 20; asked++) {
      await ask(backend, tools)
      open?.end()
    }
    expect(sockets.size).toBeLessThan(asked)
  })

  test("is waited for as long as it asks when it is busy", async () => {
    const { backend, waits } = await started(wire, (response, _, count) => {
      if (count > 1) return streamed(wire.type, wire.answer, 500)(response)
      response.writeHead(429, { "retry-after": "3" }).end('{"error":{"type":"rate_limit_error","message":"slow"}}')
    })
    const events = await ask(backend, tools)
    expect(waits).toEqual([3000])
    expect(events[0]).toMatchObject({ type: "retry", code: "MODEL_RATE_LIMITED", delayMs: 3000 })
  })

  test.each([
    [401, "MODEL_UNAUTHORIZED"],
    [404, "MODEL_NOT_FOUND"],
    [400, "MODEL_REQUEST_REJECTED"],
  ])("that answers %i fails with %s, and the key is not shown", async (status, code) => {
    const { backend } = await started(wire, (response) => {
      response.writeHead(status).end('{"error":{"message":"no secret-1 here"}}')
    })
    const failure = await ask(backend, tools).catch((thrown: Error) => thrown)
    expect(failure).toMatchObject({ code })
    expect((failure as Error).message).not.toContain("secret-1")
  })

  test("that knows not the model is told with the models that it said it has", async () => {
    const missing = (response: ServerResponse) => void response.writeHead(404).end("{}")
    const { backend } = await started(wire, missing, { models: ["one:7b", "two:1b"] })
    await expect(ask(backend, tools)).rejects.toMatchObject({
      code: "MODEL_NOT_FOUND",
      hint: expect.stringContaining("The server has one:7b, two:1b:"),
    })
  })

  test("that fails inside a stream is a failure", async () => {
    const { text, code } = wire.inStream!
    const { backend } = await started(wire, streamed(wire.type, text, 500), { retryDelaysMs: [] })
    await expect(ask(backend, tools)).rejects.toMatchObject({ code })
  })

  test("that breaks off in the middle is asked again, and then it is a failure", async () => {
    const { backend, requests } = await started(wire, streamed(wire.type, wire.answer.slice(0, 20), 500), {
      retryDelaysMs: [1],
    })
    await expect(ask(backend, tools)).rejects.toMatchObject({ code: "MODEL_BAD_REPLY" })
    expect(requests).toHaveLength(2)
  })

  test("that is another one is named", async () => {
    const { backend } = await started(wire, streamed("application/json", '{"status":"ok"', 500), { retryDelaysMs: [] })
    await expect(ask(backend, tools)).rejects.toMatchObject({ code: "MODEL_BAD_REPLY" })
  })

  test("sees a caller leave", async () => {
    let left = (): void => {}
    const gone = new Promise<void>((resolve) => (left = resolve))
    const { backend } = await started(wire, (response) => {
      response.on("close", left)
      streamed(wire.type, wire.answer.slice(0, wire.answer.length / 2), 5, false)(response)
    })
    const leaving = new AbortController()
    const run = backend.infer({ messages: [{ role: "user", content: "Hi" }], ...tools }, { signal: leaving.signal })
    for await (const _ of run) break
    leaving.abort(new Error("enough"))
    await gone
  })

  test("takes one constraint, and says what it cannot be held to", async () => {
    const { backend } = await started(wire, (response) => void response.end())
    const both = { jsonSchema: { type: "object" }, grammar: 'root ::= "a"' }
    await expect(ask(backend, both)).rejects.toMatchObject({ code: "CONFLICTING_CONSTRAINTS" })
    const wrong = wire.textual === true ? { tools: [tool] } : { grammar: 'root ::= "a"' }
    await expect(ask(backend, wrong)).rejects.toMatchObject({ code: "CONSTRAINT_UNSUPPORTED" })
  })
})

/** The body of the request that a question comes to. */
async function bodyOf(wire: Wire, request: Partial<InferRequest>, more: Partial<ServerOptions> = {}) {
  const { backend, requests } = await started(wire, streamed(wire.type, wire.answer, 9000), more)
  await ask(backend, request)
  return { ...requests[0]!, left: backend.leavesOut!({ messages: [], ...request }) }
}

const schema = { type: "object", properties: { a: { type: "integer", minimum: 1 } }, required: ["a"] }
const sampling = {
  temperature: 0,
  topP: 0.9,
  topK: 5,
  minP: 0.1,
  maxTokens: 50,
  stop: ["X"],
  seed: 1,
  logitBias: { 5: -1 },
}

describe("a request", () => {
  test("to Anthropic", async () => {
    const { body, headers, left } = await bodyOf(WIRES.anthropic!, {
      messages: talk,
      tools: [
        { ...tool, function: { ...tool.function, parameters: { type: "object", oneOf: [{ properties: { a: {} } }] } } },
      ],
      toolChoice: "required",
      parallelToolCalls: false,
      sampling,
      extraBody: { reasoning_effort: "minimal", thinking: { type: "adaptive" }, logprobs: true },
    })
    expect(headers).toMatchObject({ "x-api-key": "secret-1", "anthropic-version": "2023-06-01" })
    expect(headers.authorization).toBeUndefined()
    expect(body).toEqual({
      model: "qwen2.5-7b",
      max_tokens: 50,
      stream: true,
      cache_control: { type: "ephemeral" },
      system: "Be brief.",
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBO" } },
            { type: "text", text: "How is it?" },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I look." },
            { type: "tool_use", id: "call_7", name: "weather", input: CALL.arguments },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "call_7", content: "rain", is_error: true }] },
      ],
      tools: [
        { name: "weather", description: "Tells the weather", input_schema: { type: "object", properties: { a: {} } } },
      ],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      temperature: 0,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ["X"],
      output_config: { effort: "low" },
      thinking: { type: "adaptive" },
    })
    expect(left).toEqual(["min_p", "seed", "logit_bias", "logprobs"])
    expect((await bodyOf(WIRES.anthropic!, {})).body).toMatchObject({ max_tokens: 16_384 })
  })

  test("to Anthropic is held to a schema that its API knows, and to no other", async () => {
    const { body } = await bodyOf(WIRES.anthropic!, { jsonSchema: schema })
    const integer = { type: "integer", description: "minimum: 1" }
    const closed = { type: "object", properties: { a: integer }, required: ["a"], additionalProperties: false }
    expect(body).toMatchObject({ output_config: { format: { type: "json_schema", schema: closed } } })
    const optional = bodyOf(WIRES.anthropic!, { jsonSchema: { type: "object", properties: { a: { type: "string" } } } })
    await expect(optional).rejects.toMatchObject({ code: "CONSTRAINT_UNSUPPORTED" })
  })

  test("to Responses", async () => {
    const { body, headers, left } = await bodyOf(WIRES["openai-responses"]!, {
      messages: talk,
      tools: [tool],
      parallelToolCalls: false,
      sampling,
      extraBody: { reasoning_effort: "high", verbosity: "low", chat_template_kwargs: {} },
    })
    expect(headers.authorization).toBe("Bearer secret-1")
    expect(body).toEqual({
      model: "qwen2.5-7b",
      stream: true,
      store: false,
      input: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "input_text", text: "How is it?" },
            { type: "input_image", image_url: "data:image/png;base64,iVBO" },
          ],
        },
        { role: "assistant", content: [{ type: "output_text", text: "I look." }] },
        { type: "function_call", call_id: "call_7", name: "weather", arguments: JSON.stringify(CALL.arguments) },
        { type: "function_call_output", call_id: "call_7", output: "rain" },
      ],
      tools: [{ type: "function", strict: false, ...tool.function }],
      tool_choice: "auto",
      parallel_tool_calls: false,
      temperature: 0,
      top_p: 0.9,
      max_output_tokens: 50,
      reasoning: { effort: "high" },
      text: { verbosity: "low" },
    })
    expect(left).toEqual(["top_k", "min_p", "stop", "seed", "logit_bias", "chat_template_kwargs"])
  })

  test("to Ollama sets the window, and has nothing cut off in silence", async () => {
    const wire = WIRES.ollama!
    const { body, left } = await bodyOf(
      wire,
      { messages: talk, tools: [tool], sampling, extraBody: { reasoning_effort: "none", logprobs: true, user: "u" } },
      { contextTokens: 32_768 },
    )
    expect(body).toEqual({
      model: "qwen2.5-7b",
      stream: true,
      truncate: false,
      shift: false,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "How is it?", images: ["iVBO"] },
        {
          role: "assistant",
          content: "I look.",
          tool_calls: [{ function: { name: "weather", arguments: CALL.arguments } }],
        },
        { role: "tool", tool_name: "weather", content: "rain" },
      ],
      tools: [tool],
      think: false,
      logprobs: true,
      options: {
        num_ctx: 32_768,
        temperature: 0,
        top_p: 0.9,
        top_k: 5,
        min_p: 0.1,
        num_predict: 50,
        stop: ["X"],
        seed: 1,
      },
    })
    expect(left).toEqual(["logit_bias", "user"])
    expect((await bodyOf(wire, { jsonSchema: schema })).body).toMatchObject({ format: schema })
    const unable = await bodyOf(
      { ...wire, make: (options) => createOllamaBackend({ ...options, thinks: false }) },
      { extraBody: { reasoning_effort: "high" } },
    )
    expect([unable.body.think, unable.left]).toEqual([undefined, ["reasoning_effort"]])
  })

  const source = "{{ bos_token }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}{{ flag }}[assistant]"
  const llama = (more: Partial<Parameters<typeof createLlamaServerBackend>[0]> = {}): Wire => ({
    ...WIRES["llama-server"]!,
    make: (options) => createLlamaServerBackend({ ...options, template: { source, bosToken: "<s>" }, ...more }),
  })

  test("to llama.cpp is a prompt by the model's own template, its grammar lazy", async () => {
    const { body, left } = await bodyOf(llama(), {
      messages: [
        { role: "system", content: "S" },
        { role: "user", content: "U" },
      ],
      grammar: 'root ::= "<tool_call>" [a-z]*',
      grammarTriggers: ["<tool_call>"],
      sampling,
      extraBody: { chat_template_kwargs: { flag: "!" }, dry_multiplier: 1, user: "u" },
    })
    expect(body).toEqual({
      prompt: "[system]S[user]U![assistant]",
      stream: true,
      cache_prompt: true,
      grammar: 'root ::= "<tool_call>" [a-z]*',
      grammar_lazy: true,
      grammar_triggers: [{ type: 1, value: "<tool_call>" }],
      preserved_tokens: ["<tool_call>", "</tool_call>", "<think>", "</think>"].filter((mark) =>
        (body.preserved_tokens as string[]).includes(mark),
      ),
      temperature: 0,
      top_p: 0.9,
      top_k: 5,
      min_p: 0.1,
      n_predict: 50,
      stop: ["X"],
      seed: 1,
      logit_bias: { 5: -1 },
      dry_multiplier: 1,
    })
    expect(body.preserved_tokens).toContain("<tool_call>")
    expect(left).toEqual(["user"])
  })

  test("to llama.cpp holds JSON by our grammar, keeps the marks of the family, and carries pictures", async () => {
    expect((await bodyOf(llama(), { jsonSchema: schema })).body.grammar).toContain("root ::=")
    const modelFormat = { formatter: formatterById("llama3"), because: "It is set." }
    expect((await bodyOf(llama({ modelFormat }), {})).body.preserved_tokens).toContain("<|python_tag|>")
    const { prompt } = (await bodyOf(llama(), { messages: talk.slice(0, 2) })).body
    expect(prompt).toEqual({
      prompt_string: "[system]Be brief.[user]<__media__>\nHow is it?[assistant]",
      multimodal_data: ["iVBO"],
    })
  })
})

test.each([
  ["anthropic", "http://127.0.0.1:1", undefined],
  ["anthropic", "http://127.0.0.1:1/v1/messages", undefined],
  ["openai-responses", "http://127.0.0.1:1/v1", "/v1/embeddings"],
  ["ollama", "http://127.0.0.1:1/v1", "/v1/embeddings"],
  ["ollama", "http://127.0.0.1:1/api/chat", "/v1/embeddings"],
  ["llama-server", "http://127.0.0.1:1", "/v1/embeddings"],
])("%s at %s is asked at its own pages", async (kind, baseUrl, others) => {
  const asked: string[] = []
  const fetcher = ((url: string) => {
    asked.push(new URL(url).pathname)
    return Promise.resolve(new Response('{"error":"x"}', { status: 400 }))
  }) as typeof fetch
  const backend = WIRES[kind]!.make({ baseUrl, modelName: "m", fetch: fetcher })
  await ask(backend).catch(() => {})
  await backend.forward?.("embeddings", {}).catch(() => {})
  expect(asked).toEqual([WIRES[kind]!.path, ...(others === undefined ? [] : [others])])
})

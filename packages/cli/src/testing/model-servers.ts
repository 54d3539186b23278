import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

/** Model servers that are stood in for, each with the pages and the stream that its own documentation shows. */
export const MODEL_SERVERS = ["anthropic", "openai-responses", "ollama", "llama-server", "vllm", "sglang"] as const

export type ModelServerKind = (typeof MODEL_SERVERS)[number]

export type Body = Record<string, unknown>

/** One answer of a model. */
export interface Said {
  thought?: string
  text?: string
  call?: { name: string; arguments: object }
  /** A failure in place of an answer. */
  status?: number
  /** What a failure says. */
  message?: string
  /** Goes on until the client leaves. */
  endless?: true
}

/** What a server was asked. */
export interface Asked {
  path: string
  headers: IncomingMessage["headers"]
  body: Body
  /** The whole body as text. */
  text: string
}

export interface ModelServer {
  baseUrl: string
  asked: Asked[]
  /** When the client of an endless answer has left. */
  left: Promise<void>
}

/** The model's own chat template, of the Hermes kind. */
export const TEMPLATE =
  "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>\n" +
  "{{ c.function | tojson }}\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}{% if tools %}{{ tools | tojson " +
  "}}{% endif %}<|im_start|>assistant\n"

/** Starts a server that answers one request after the other; it ends with the test. */
export async function startModelServer(
  kind: ModelServerKind,
  answers: readonly Said[] | ((asked: Asked) => Said),
): Promise<ModelServer> {
  const asked: Asked[] = []
  let leave = (): void => {}
  const left = new Promise<void>((resolve) => (leave = resolve))
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const path = request.url ?? ""
      const page = PAGES[kind][path]
      if (page !== undefined) return void response.end(JSON.stringify(page))
      if (path === "/tokenize" && TELLS_TOKENS.has(kind)) {
        const { content, prompt = content } = JSON.parse(Buffer.concat(pieces).toString()) as Body
        return void response.end(JSON.stringify({ tokens: tokensOf(String(prompt)) }))
      }
      if (path !== PATHS[kind]) return void response.writeHead(404).end('{"error":{"message":"no such page"}}')
      const text = Buffer.concat(pieces).toString()
      const about = { path, headers: request.headers, body: JSON.parse(text) as Body, text }
      asked.push(about)
      const said = typeof answers === "function" ? answers(about) : (answers[asked.length - 1] ?? { text: "Done." })
      if (said.endless === true) response.on("close", leave)
      answer(kind, response, said)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, left }
}

const TELLS_TOKENS: ReadonlySet<ModelServerKind> = new Set(["llama-server", "vllm", "sglang"])

/** The numbers of a vocabulary of words, parts of names and what stands between them. */
export function tokensOf(text: string): number[] {
  const pieces = text.match(/_?[a-z]+|[^a-z_]+|_/g) ?? []
  return pieces.map((piece) => Number.parseInt(createHash("sha256").update(piece).digest("hex").slice(0, 7), 16))
}

const PATHS: Readonly<Record<ModelServerKind, string>> = {
  anthropic: "/v1/messages",
  "openai-responses": "/v1/responses",
  ollama: "/api/chat",
  "llama-server": "/completion",
  vllm: "/v1/chat/completions",
  sglang: "/v1/chat/completions",
}

const PAGES: Readonly<Record<ModelServerKind, Readonly<Record<string, object>>>> = {
  anthropic: {},
  "openai-responses": {},
  ollama: {
    "/api/version": { version: "0.15.2" },
    "/api/ps": { models: [] },
    "/api/show": {
      capabilities: ["completion", "tools", "thinking", "vision"],
      parameters: "num_ctx                        24576",
      model_info: { "general.architecture": "qwen3", "qwen3.context_length": 40_960 },
    },
    "/v1/models": { data: [{ id: "m-7b", owned_by: "library" }] },
  },
  "llama-server": {
    "/props": {
      default_generation_settings: { n_ctx: 8192 },
      chat_template: TEMPLATE,
      bos_token: "<|endoftext|>",
      eos_token: "<|im_end|>",
      build_info: "b9000-abc",
      modalities: { vision: true, audio: false },
    },
    "/v1/models": { data: [{ id: "m-7b", owned_by: "llamacpp" }] },
  },
  vllm: {
    "/version": { version: "0.14.0" },
    "/v1/models": { data: [{ id: "m-7b", owned_by: "vllm", max_model_len: 32_768 }] },
  },
  sglang: {
    "/v1/models": { data: [{ id: "m-7b", owned_by: "sglang", max_model_len: 32_768 }] },
  },
}

function answer(kind: ModelServerKind, response: ServerResponse, said: Said): void {
  if (said.status !== undefined) {
    const error = { type: "rate_limit_error", message: said.message ?? "too much at once" }
    response.writeHead(said.status, { "content-type": "application/json", "retry-after": "7" })
    response.end(JSON.stringify({ error: kind === "ollama" ? error.message : error }))
    return
  }
  const lines = kind === "ollama"
  response.writeHead(200, { "content-type": lines ? "application/x-ndjson" : "text/event-stream" })
  const write = (value: object): void => {
    const type = (value as { type?: string }).type
    const name = type === undefined ? "" : `event: ${type}\n`
    response.write(lines ? `${JSON.stringify(value)}\n` : `${name}data: ${JSON.stringify(value)}\n\n`)
  }
  const values = WRITERS[kind](said)
  if (said.endless === true) {
    values.slice(0, -1).forEach(write)
    return
  }
  values.forEach(write)
  response.end(kind === "vllm" || kind === "sglang" ? "data: [DONE]\n\n" : "")
}

/** The values of a stream; the last one ends it. */
const WRITERS: Readonly<Record<ModelServerKind, (said: Said) => object[]>> = {
  anthropic: ({ thought, text, call }) => {
    const blocks = [
      thought === undefined
        ? []
        : [
            { type: "thinking", thinking: "" },
            { type: "thinking_delta", thinking: thought },
          ],
      text === undefined
        ? []
        : [
            { type: "text", text: "" },
            { type: "text_delta", text },
          ],
      call === undefined
        ? []
        : [
            { type: "tool_use", id: "toolu_01", name: call.name, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(call.arguments) },
          ],
    ].filter((block) => block.length > 0)
    const usage = { input_tokens: 11, output_tokens: 1 }
    return [
      { type: "message_start", message: { id: "msg_1", type: "message", role: "assistant", content: [], usage } },
      ...blocks.flatMap(([block, delta], index) => [
        { type: "content_block_start", index, content_block: block },
        { type: "content_block_delta", index, delta },
        { type: "content_block_stop", index },
      ]),
      {
        type: "message_delta",
        delta: { stop_reason: call === undefined ? "end_turn" : "tool_use" },
        usage: { output_tokens: 5 },
      },
      { type: "message_stop" },
    ]
  },
  "openai-responses": ({ thought, text, call }) => [
    { type: "response.created", response: { id: "resp_1", status: "in_progress", output: [] } },
    ...(thought === undefined
      ? []
      : [{ type: "response.reasoning_summary_text.delta", output_index: 0, summary_index: 0, delta: thought }]),
    ...(text === undefined
      ? []
      : [{ type: "response.output_text.delta", output_index: 1, content_index: 0, delta: text }]),
    ...(call === undefined
      ? []
      : [
          {
            type: "response.output_item.done",
            output_index: 2,
            item: {
              type: "function_call",
              call_id: "call_01",
              name: call.name,
              arguments: JSON.stringify(call.arguments),
            },
          },
        ]),
    {
      type: "response.completed",
      response: { status: "completed", usage: { input_tokens: 11, output_tokens: 5 } },
    },
  ],
  ollama: ({ thought, text, call }) => [
    ...(thought === undefined ? [] : [line({ content: "", thinking: thought })]),
    ...(text === undefined ? [] : [line({ content: text })]),
    ...(call === undefined ? [] : [line({ content: "", tool_calls: [{ function: call }] })]),
    { ...line({ content: "" }), done: true, done_reason: "stop", prompt_eval_count: 11, eval_count: 5 },
  ],
  "llama-server": (said) => [
    ...[...textOf(said)].map((content) => ({ content, tokens: [], stop: false })),
    { content: "", stop: true, stop_type: "eos", tokens_evaluated: 11, tokens_predicted: 5, truncated: false },
  ],
  vllm: (said) => completion(said),
  sglang: (said) => completion(said),
}

const completion = ({ thought, text, call }: Said): object[] => [
  ...(thought === undefined ? [] : [chunk({ reasoning: thought })]),
  ...(text === undefined ? [] : [chunk({ content: text })]),
  ...(call === undefined
    ? []
    : [
        chunk({
          tool_calls: [
            {
              index: 0,
              id: "chatcmpl-tool-1",
              type: "function",
              function: { name: call.name, arguments: JSON.stringify(call.arguments) },
            },
          ],
        }),
      ]),
  {
    choices: [{ index: 0, delta: {}, finish_reason: call === undefined ? "stop" : "tool_calls" }],
    usage: { prompt_tokens: 11, completion_tokens: 5 },
  },
]

function line(message: object) {
  return { model: "m-7b", created_at: "2026-11-22T10:00:00Z", message: { role: "assistant", ...message }, done: false }
}

function chunk(delta: object) {
  return { choices: [{ index: 0, delta, finish_reason: null }] }
}

/** What the model itself writes, where its server leaves it as it is. */
function textOf({ thought, text = "", call }: Said): string {
  const thinking = thought === undefined ? "" : `<think>${thought}</think>\n`
  return `${thinking}${text}${call === undefined ? "" : `<tool_call>\n${JSON.stringify(call)}\n</tool_call>`}`
}

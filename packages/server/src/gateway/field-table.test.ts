import { createScriptedBackend, wrapBackend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"

/** What becomes of a field that a client sends. */
type Fate =
  /** The model is asked so. */
  | { asked: object }
  /** The answer's header names it. */
  | { left: string }
  /** The request is refused, and the error names the field. */
  | { refused: string }
  /** The answer shows it. */
  | { told: object }
  /** It has no bearing on an answer from a model of one's own. */
  | "nothing"

type Fields = readonly [field: string, value: unknown, fate: Fate][]

interface WireTable {
  path: string
  body: Record<string, unknown>
  fields: Fields
}

const schema = { type: "object", properties: { a: { type: "string" } } }
const named = { name: "look", description: "Looks", parameters: schema }
const tool = { type: "function", function: named }
const user = { role: "user", content: "Hi" }
const extra = (field: string, value: unknown): [string, unknown, Fate] => [
  field,
  value,
  { asked: { extraBody: { [field]: value } } },
]
const sampled = (field: string, name: string, value: unknown): [string, unknown, Fate] => [
  field,
  value,
  { asked: { sampling: { [name]: value } } },
]

/** Every field of a request that the wire's documentation has, and what servers of models have added. */
const TABLE: Readonly<Record<string, WireTable>> = {
  Chat: {
    path: "/v1/chat/completions",
    body: { model: "m", messages: [user] },
    fields: [
      sampled("temperature", "temperature", 0.5),
      sampled("top_p", "topP", 0.5),
      sampled("top_k", "topK", 5),
      sampled("min_p", "minP", 0.1),
      sampled("repetition_penalty", "repetitionPenalty", 1.1),
      sampled("repeat_penalty", "repetitionPenalty", 1.1),
      sampled("max_tokens", "maxTokens", 9),
      sampled("max_completion_tokens", "maxTokens", 9),
      sampled("seed", "seed", 9),
      sampled("frequency_penalty", "frequencyPenalty", 0.5),
      sampled("presence_penalty", "presencePenalty", 0.5),
      sampled("logit_bias", "logitBias", { 5: -100 }),
      sampled("stop", "stop", ["END"]),
      ["stop", "END", { asked: { sampling: { stop: ["END"] } } }],
      [
        "response_format",
        { type: "json_schema", json_schema: { name: "a", schema } },
        { asked: { jsonSchema: schema } },
      ],
      ["response_format", { type: "json_object" }, { asked: { jsonSchema: { type: "object" } } }],
      ["response_format", { type: "json_schema" }, { refused: "response_format" }],
      ["tools", [tool], { asked: { tools: [tool] } }],
      ["tools", [{ type: "custom", custom: { name: "a" } }], { asked: { tools: [{ function: { name: "a" } }] } }],
      ["tools", [{ type: "other" }], { refused: "tools" }],
      ["tool_choice", "required", "nothing"],
      ["tool_choice", { type: "function", function: { name: "other" } }, { refused: "tool_choice" }],
      ["parallel_tool_calls", false, "nothing"],
      ["parallel_tool_calls", "false", { refused: "parallel_tool_calls" }],
      ["stream", "yes", { refused: "stream" }],
      ["n", 1, "nothing"],
      ["n", 2, { refused: "n" }],
      ["logprobs", true, { left: "logprobs" }],
      ["top_logprobs", 3, { left: "top_logprobs" }],
      ["prediction", { type: "content", content: "a" }, { left: "prediction" }],
      ["web_search_options", { search_context_size: "low" }, { left: "web_search_options" }],
      ["modalities", ["text"], "nothing"],
      ["modalities", ["text", "audio"], { refused: "modalities" }],
      ["audio", { voice: "a", format: "wav" }, { refused: "modalities" }],
      ["functions", [named], { refused: "functions" }],
      ["function_call", "auto", { refused: "function_call" }],
      ["temperature", "0.5", { refused: "temperature" }],
      ["max_tokens", "9", { refused: "max_tokens" }],
      ["stop", [5], { refused: "stop" }],
      ["logit_bias", [5], { refused: "logit_bias" }],
      ["messages", [{ ...user, name: "Ann" }], { left: "messages.name" }],
      [
        "messages",
        [user, { role: "assistant", function_call: { name: "a" } }],
        { refused: "messages[1].function_call" },
      ],
      [
        "messages",
        [{ role: "developer", content: "Be brief." }, user],
        { asked: { messages: [{ role: "system" }, {}] } },
      ],
      ["messages", [{ role: "user", content: [{ type: "file", file: {} }] }], { refused: "messages[0].content[0]" }],
      extra("metadata", { a: "b" }),
      extra("prompt_cache_key", "a"),
      extra("prompt_cache_retention", "24h"),
      extra("reasoning_effort", "low"),
      extra("safety_identifier", "a"),
      extra("service_tier", "auto"),
      extra("store", true),
      extra("user", "a"),
      extra("verbosity", "low"),
      extra("chat_template_kwargs", { enable_thinking: false }),
      extra("cache_prompt", true),
    ],
  },
  Responses: {
    path: "/v1/responses",
    body: { model: "m", input: "Hi" },
    fields: [
      sampled("temperature", "temperature", 0.5),
      sampled("top_p", "topP", 0.5),
      sampled("max_output_tokens", "maxTokens", 9),
      ["instructions", "Be brief.", { asked: { messages: [{ role: "system", content: "Be brief." }, {}] } }],
      ["text", { format: { type: "json_schema", name: "a", schema } }, { asked: { jsonSchema: schema } }],
      ["text", { verbosity: "low" }, { asked: { extraBody: { verbosity: "low" } } }],
      ["reasoning", { effort: "low" }, { asked: { extraBody: { reasoning_effort: "low" } } }],
      ["tools", [{ type: "function", ...named }], { asked: { tools: [tool] } }],
      ["tools", [{ type: "web_search" }], { left: "tools.web_search" }],
      ["tool_choice", { type: "function", name: "other" }, { refused: "tool_choice" }],
      ["parallel_tool_calls", "no", { refused: "parallel_tool_calls" }],
      ["background", true, { refused: "background" }],
      ["conversation", "conv_1", { refused: "conversation" }],
      ["prompt", { id: "pmpt_1" }, { refused: "prompt" }],
      ["previous_response_id", "resp_0", { refused: "previous_response_id" }],
      ["include", ["message.output_text.logprobs"], { left: "include.message.output_text.logprobs" }],
      ["top_logprobs", 3, { left: "top_logprobs" }],
      ["truncation", "auto", { left: "truncation" }],
      ["truncation", "disabled", "nothing"],
      ["context_management", [{ type: "compaction" }], { left: "context_management" }],
      ["metadata", { a: "b" }, { told: { metadata: { a: "b" } } }],
      ["store", false, { told: { store: false } }],
      ["max_tool_calls", 2, { told: { max_tool_calls: 2 } }],
      ["temperature", "0.5", { refused: "temperature" }],
      ["stream", "yes", { refused: "stream" }],
      ["input", [{ type: "computer_call" }], { refused: "input[0].type" }],
      extra("prompt_cache_key", "a"),
      extra("prompt_cache_retention", "24h"),
      extra("safety_identifier", "a"),
      extra("service_tier", "auto"),
      extra("user", "a"),
    ],
  },
  Messages: {
    path: "/v1/messages",
    body: { model: "m", max_tokens: 9, messages: [user] },
    fields: [
      sampled("temperature", "temperature", 0.5),
      sampled("top_p", "topP", 0.5),
      sampled("top_k", "topK", 5),
      sampled("max_tokens", "maxTokens", 5),
      ["system", "Be brief.", { asked: { messages: [{ role: "system", content: "Be brief." }, {}] } }],
      ["system", [{ type: "text", text: "A" }], { asked: { messages: [{ role: "system", content: "A" }, {}] } }],
      ["stop_sequences", ["llo"], { told: { stop_reason: "stop_sequence", stop_sequence: "llo" } }],
      ["tools", [{ name: "look", description: "Looks", input_schema: schema }], { asked: { tools: [tool] } }],
      ["tools", [{ type: "web_search_20250305", name: "web_search" }], { left: "tools.web_search" }],
      ["tool_choice", { type: "tool", name: "other" }, { refused: "tool_choice" }],
      ["output_config", { effort: "low" }, { asked: { extraBody: { reasoning_effort: "low" } } }],
      ["output_config", { format: { type: "json_schema", schema } }, { asked: { jsonSchema: schema } }],
      ["thinking", { type: "enabled", budget_tokens: 2000 }, { left: "thinking.budget_tokens" }],
      ["metadata", { user_id: "a" }, "nothing"],
      ["cache_control", { type: "ephemeral" }, { left: "cache_control" }],
      ["container", "a", { left: "container" }],
      ["context_management", { edits: [] }, { left: "context_management" }],
      ["inference_geo", "us", { left: "inference_geo" }],
      ["mcp_servers", [{ type: "url", url: "https://a.example", name: "a" }], { left: "mcp_servers" }],
      ["service_tier", "auto", { left: "service_tier" }],
      ["speed", "fast", { left: "speed" }],
      ["stream", "yes", { refused: "stream" }],
      ["temperature", "0.5", { refused: "temperature" }],
      ["stop_sequences", [5], { refused: "stop_sequences" }],
    ],
  },
  "Ollama's chat": {
    path: "/api/chat",
    body: { model: "m", stream: false, messages: [user] },
    fields: [
      ["tools", [tool], { asked: { tools: [tool] } }],
      ["format", schema, { asked: { jsonSchema: schema } }],
      ["format", "json", { asked: { jsonSchema: { type: "object" } } }],
      ["format", 5, { refused: "format" }],
      ["think", true, { asked: { extraBody: { chat_template_kwargs: { enable_thinking: true } } } }],
      ["think", "low", { asked: { extraBody: { reasoning_effort: "low" } } }],
      ["logprobs", true, { left: "logprobs" }],
      ["top_logprobs", 3, { left: "top_logprobs" }],
      ["keep_alive", "5m", "nothing"],
      ["messages", [], { told: { done: true, done_reason: "load" } }],
      ["stream", "yes", { refused: "stream" }],
      ...(
        [
          ["temperature", "temperature", 0.5],
          ["top_k", "topK", 5],
          ["top_p", "topP", 0.5],
          ["min_p", "minP", 0.1],
          ["num_predict", "maxTokens", 9],
          ["repeat_penalty", "repetitionPenalty", 1.1],
          ["frequency_penalty", "frequencyPenalty", 0.5],
          ["presence_penalty", "presencePenalty", 0.5],
          ["seed", "seed", 9],
          ["stop", "stop", ["END"]],
        ] as const
      ).map(([option, name, value]): [string, unknown, Fate] => [
        "options",
        { [option]: value },
        { asked: { sampling: { [name]: value } } },
      ]),
      ...(
        "num_ctx num_keep typical_p repeat_last_n num_batch num_gpu main_gpu num_thread use_mmap mirostat tfs_z".split(
          " ",
        ) as string[]
      ).map((option): [string, unknown, Fate] => ["options", { [option]: 1 }, { left: `options.${option}` }]),
      ["options", { temperature: "0.5" }, { refused: "temperature" }],
    ],
  },
  "Ollama's generate": {
    path: "/api/generate",
    body: { model: "m", stream: false, prompt: "Hi" },
    fields: [
      ["system", "Be brief.", { asked: { messages: [{ role: "system", content: "Be brief." }, {}] } }],
      ["images", ["iVBORw0KGgo="], { asked: { messages: [{ media: [{ type: "image", mimeType: "image/png" }] }] } }],
      ["suffix", "a", { refused: "suffix" }],
      ["template", "a", { refused: "template" }],
      ["raw", true, { refused: "raw" }],
      ["context", [1], { refused: "context" }],
      ["width", 9, { left: "width" }],
      ["prompt", "", { told: { done: true, done_reason: "load", response: "" } }],
    ],
  },
}

async function asked(path: string, body: object) {
  const scripted = createScriptedBackend({
    model: "m",
    abilities: { nativeTools: true, jsonSchema: true, grammar: false },
    steps: [{ reply: "Hello" }],
  })
  const backend = wrapBackend(scripted, { leavesOut: () => [] })
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const response = await app.request(`http://localhost${path}`, {
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json" },
    body: JSON.stringify(body),
  })
  const answer = await response.json()
  const left = (response.headers.get("x-toolwright-left-out") ?? "").split(", ").filter((name) => name !== "")
  return { status: response.status, left, answer, request: scripted.requests[0] }
}

/** The field that an error is about, in each wire's own place. */
function fieldOf({ error }: { error: { param?: string; message: string } | string }): string {
  if (typeof error !== "string" && error.param !== undefined) return error.param ?? ""
  return typeof error === "string" ? error : error.message
}

describe.each(Object.entries(TABLE))("every documented field of %s is honoured, passed on or told", (_, wire) => {
  test.each(wire.fields)("%s: %j", async (field, value, fate) => {
    const { status, left, answer, request } = await asked(wire.path, { ...wire.body, [field]: value })
    if (fate !== "nothing" && "refused" in fate) {
      expect([status, request]).toEqual([400, undefined])
      return expect(fieldOf(answer)).toContain(fate.refused)
    }
    expect([status, answer.error ?? null]).toEqual([200, null])
    expect(left).toEqual(fate !== "nothing" && "left" in fate ? [fate.left] : [])
    if (fate === "nothing" || "left" in fate) return
    if ("told" in fate) expect(answer).toMatchObject(fate.told)
    else expect(request).toMatchObject(fate.asked)
  })
})

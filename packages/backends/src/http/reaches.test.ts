import { describe, expect, test } from "vitest"
import { createAnthropicBackend } from "../anthropic/index.ts"
import { createLlamaServerBackend } from "../llama-server/index.ts"
import type { Backend, InferRequest } from "../model/backend.ts"
import { createOllamaBackend } from "../ollama/index.ts"
import { createOpenAICompatibleBackend } from "../openai-compatible/index.ts"
import { DIALECTS } from "../openai-compatible/dialect.ts"
import { createResponsesBackend } from "../openai-responses/index.ts"
import type { ServerOptions } from "./backend.ts"

type Made = (options: ServerOptions) => Backend

const BACKENDS: [string, Made][] = [
  ...DIALECTS.map((dialect): [string, Made] => [
    `chat completions (${dialect})`,
    (options) => createOpenAICompatibleBackend({ ...options, dialect }),
  ]),
  ["Responses", createResponsesBackend],
  ["Messages", createAnthropicBackend],
  ["Ollama", createOllamaBackend],
  ["llama.cpp's completion", createLlamaServerBackend],
  [
    "llama.cpp's completion with a template",
    (options) => createLlamaServerBackend({ ...options, template: { source: "{{ word }}{{ reasoning_effort }}" } }),
  ],
]

/**
 * Every wish that a request can have, each with a value found nowhere else, and what it is called where it is left out.
 */
const WISHES: [string, Partial<InferRequest>, string][] = [
  ["temperature", { sampling: { temperature: 0.8125 } }, "0.8125"],
  ["top_k", { sampling: { topK: 8125 } }, "8125"],
  ["top_p", { sampling: { topP: 0.8125 } }, "0.8125"],
  ["min_p", { sampling: { minP: 0.8125 } }, "0.8125"],
  ["repetition_penalty", { sampling: { repetitionPenalty: 1.8125 } }, "1.8125"],
  ["frequency_penalty", { sampling: { frequencyPenalty: 0.8125 } }, "0.8125"],
  ["presence_penalty", { sampling: { presencePenalty: 0.8125 } }, "0.8125"],
  ["max_tokens", { sampling: { maxTokens: 8125 } }, "8125"],
  ["seed", { sampling: { seed: 8125 } }, "8125"],
  ["stop", { sampling: { stop: ["8125"] } }, '"8125"'],
  ["logit_bias", { sampling: { logitBias: { 8125: -3 } } }, "8125"],
  ["reasoning_effort", { extraBody: { reasoning_effort: "low" } }, "low"],
  ["verbosity", { extraBody: { verbosity: "8125" } }, "8125"],
  ["chat_template_kwargs", { extraBody: { chat_template_kwargs: { word: "8125" } } }, "8125"],
  ["service_tier", { extraBody: { service_tier: "8125" } }, "8125"],
  ["user", { extraBody: { user: "8125" } }, "8125"],
  ["metadata", { extraBody: { metadata: { word: "8125" } } }, "8125"],
  ["prompt_cache_key", { extraBody: { prompt_cache_key: "8125" } }, "8125"],
  ["thinking", { extraBody: { thinking: { type: "8125" } } }, "8125"],
  ["cache_prompt", { extraBody: { cache_prompt: "8125" } }, "8125"],
  ["keep_alive", { extraBody: { keep_alive: "8125" } }, "8125"],
]

describe.each(BACKENDS)("to %s every wish of a request is sent, or told to be left out", (_, make) => {
  test.each(WISHES)("%s", async (name, wish, value) => {
    let sent = ""
    const backend = make({
      baseUrl: "http://127.0.0.1:9/v1",
      modelName: "m",
      retryDelaysMs: [],
      fetch: (_url, init) => {
        sent = String(init?.body)
        return Promise.resolve(new Response("{}", { status: 400 }))
      },
    })
    const request: InferRequest = { messages: [{ role: "user", content: "Hi" }], ...wish }
    const reading = backend.infer(request)[Symbol.asyncIterator]()
    await expect(reading.next()).rejects.toThrow("400")
    const left = backend.leavesOut!(request)
    expect({ sent: sent.includes(value), left }).toEqual(
      left.length === 0 ? { sent: true, left: [] } : { sent: false, left: [name] },
    )
  })
})

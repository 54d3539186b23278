import { createOpenAIStreamDecoder } from "@toolwright/toolformat"
import { createServerBackend, type ServerOptions } from "../http/backend.ts"
import { SAMPLING_NAMES } from "../http/fields.ts"
import type { Protocol, ReplyDecoder } from "../http/protocol.ts"
import type { Backend } from "../model/backend.ts"
import { chatBody } from "./body.ts"
import { DIALECT_ABILITIES, samplingFields, tokenQuestion, type Dialect } from "./dialect.ts"

/** Settings of an OpenAI-compatible backend. The key is sent as a bearer token. */
export interface OpenAICompatibleOptions extends ServerOptions {
  /** `generic` unless given; `probeAbilities` finds it out. */
  dialect?: Dialect
  /** Whether to ask for a stream; true unless given. */
  stream?: boolean
  /** Sends reasoning of earlier turns back. */
  includeReasoning?: boolean
}

/**
 * A backend for any server that speaks OpenAI's chat completions: llama.cpp, vLLM, Ollama, LM Studio, SGLang, OpenAI, …
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` for an address that is none
 */
export function createOpenAICompatibleBackend(options: OpenAICompatibleOptions): Backend {
  return createServerBackend(chatCompletions(options), options)
}

function chatCompletions(options: OpenAICompatibleOptions): Protocol {
  const { modelName, dialect = "generic", stream = true, includeReasoning = false } = options
  const tokensOf = tokenQuestion(dialect, modelName)
  return {
    kind: "openai-compatible",
    server: "an OpenAI-compatible server",
    abilities: DIALECT_ABILITIES[dialect],
    pages: { own: "chat/completions", others: "" },
    body: (request) => chatBody(request, { modelName, dialect, stream, includeReasoning }),
    leavesOut: ({ sampling }) => samplingFields(sampling, dialect).unsupported.map((name) => SAMPLING_NAMES[name]),
    ...(tokensOf === undefined ? {} : { tokensOf }),
    decoder: chatDecoder,
  }
}

interface Completion {
  choices?: { message?: { tool_calls?: object[] }; finish_reason?: unknown }[]
  error?: unknown
}

function chatDecoder(): ReplyDecoder {
  const decoder = createOpenAIStreamDecoder()
  return {
    push: (value) => decoder.push(value),
    // the counts come after the reason for the end, and then `[DONE]`
    isLast: () => false,
    whole(value) {
      const { choices, error } = value as Completion
      if (!Array.isArray(choices) && (error === undefined || error === null)) return undefined
      // A whole message is read as a stream of one chunk.
      const asDelta = choices?.map((choice) => ({
        ...choice,
        finish_reason: choice.finish_reason ?? "stop",
        delta: {
          ...choice.message,
          tool_calls: (choice.message?.tool_calls ?? []).map((call, index) => ({ index, ...call })),
        },
      }))
      return decoder.push({ ...value, choices: asDelta ?? [] })
    },
    end: () => decoder.end(),
  }
}

import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { strictReplySchema } from "@toolwright/toolformat"
import { SAMPLING_NAMES } from "../http/fields.ts"
import type { InferRequest, SamplingOptions } from "../model/backend.ts"

/**
 * How a server spells what OpenAI's API does not have or calls otherwise.
 *
 * - `llama.cpp`: `grammar` (GBNF) at the top level (tools/server/README.md)
 * - `vllm`: `structured_outputs: { grammar | json | structural_tag }`, since 0.12 the only spelling
 * - `sglang`: `ebnf` (GBNF) at the top level, `response_format` for schemas and for structural tags
 * - `openai`: `response_format`; `max_completion_tokens`; no grammars
 * - `ollama`: `response_format`; no grammars
 * - `generic`: what nearly every server takes: `response_format` and OpenAI's older names
 */
export const DIALECTS = ["generic", "openai", "llama.cpp", "vllm", "sglang", "ollama"] as const

export type Dialect = (typeof DIALECTS)[number]

/** What a dialect can express beyond plain text. Whether the loaded model can use native tools is another matter. */
export const DIALECT_ABILITIES = {
  generic: { nativeTools: true, grammar: false, jsonSchema: true },
  openai: { nativeTools: true, grammar: false, jsonSchema: true },
  "llama.cpp": { nativeTools: true, grammar: true, jsonSchema: true },
  vllm: { nativeTools: true, grammar: true, jsonSchema: true, structuralTags: true },
  sglang: { nativeTools: true, grammar: true, jsonSchema: true, structuralTags: true },
  ollama: { nativeTools: true, grammar: false, jsonSchema: true },
} as const

/**
 * The body's fields for a request's constraint.
 *
 * @throws ToolwrightError `CONSTRAINT_UNSUPPORTED` when the dialect has no word for it
 */
export function constraintFields({ grammar, structuralTag, jsonSchema }: InferRequest, dialect: Dialect): JsonObject {
  if (structuralTag !== undefined) return tagFields(structuralTag, dialect)
  if (grammar !== undefined) {
    if (dialect === "llama.cpp") return { grammar }
    if (dialect === "vllm") return { structured_outputs: { grammar } }
    if (dialect === "sglang") return { ebnf: grammar }
    throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", `A server of dialect '${dialect}' takes no grammars.`, {
      hint: "Set the dialect of the model server to llama.cpp, vllm or sglang if it is one of these.",
    })
  }
  if (jsonSchema === undefined) return {}
  if (dialect === "vllm") return { structured_outputs: { json: jsonSchema } }
  return {
    response_format: { type: "json_schema", json_schema: { name: "reply", ...schemaFields(jsonSchema, dialect) } },
  }
}

/** vLLM takes the tag as its JSON text. @throws ToolwrightError `CONSTRAINT_UNSUPPORTED` */
function tagFields(structuralTag: JsonObject, dialect: Dialect): JsonObject {
  if (dialect === "vllm") return { structured_outputs: { structural_tag: JSON.stringify(structuralTag) } }
  if (dialect === "sglang") return { response_format: structuralTag }
  throw new ToolwrightError("CONSTRAINT_UNSUPPORTED", `A server of dialect '${dialect}' takes no structural tags.`, {
    hint: "Send a grammar, or set the dialect of the model server to vllm or sglang if it is one of these.",
  })
}

/** OpenAI holds a reply to a schema only where it is strict, which not every schema can be made. */
function schemaFields(jsonSchema: JsonObject, dialect: Dialect): JsonObject {
  if (dialect !== "openai") return { schema: jsonSchema }
  const strict = strictReplySchema(jsonSchema, "openai-strict")
  return strict === undefined ? { schema: jsonSchema, strict: false } : { schema: strict, strict: true }
}

type SamplingName = keyof SamplingOptions

const { topK: _topK, minP: _minP, repetitionPenalty: _repetitionPenalty, ...COMMON } = SAMPLING_NAMES

const NAMES: Record<Dialect, Partial<Record<SamplingName, string | undefined>>> = {
  generic: COMMON,
  openai: { ...COMMON, maxTokens: "max_completion_tokens" },
  "llama.cpp": { ...COMMON, topK: "top_k", minP: "min_p", repetitionPenalty: "repeat_penalty" },
  vllm: { ...COMMON, topK: "top_k", minP: "min_p", repetitionPenalty: "repetition_penalty" },
  sglang: { ...COMMON, topK: "top_k", minP: "min_p", repetitionPenalty: "repetition_penalty" },
  ollama: { ...COMMON, logitBias: undefined },
}

/** The body's fields for sampler settings; those that the dialect cannot express are named in `unsupported`. */
export function samplingFields(
  sampling: SamplingOptions = {},
  dialect: Dialect,
): { fields: JsonObject; unsupported: SamplingName[] } {
  const fields: JsonObject = {}
  const unsupported: SamplingName[] = []
  for (const [name, value] of Object.entries(sampling) as [SamplingName, unknown][]) {
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue
    const field = NAMES[dialect][name]
    if (field === undefined) unsupported.push(name)
    else fields[field] = value
  }
  return { fields, unsupported }
}

/** What `/tokenize` of llama.cpp is asked; the marks of calls count as the single tokens that they may be. */
export function llamaTokenQuestion(content: string): JsonObject {
  return { content, add_special: false, parse_special: true }
}

/** What a server's `/tokenize` is asked for the tokens of a text; undefined where the dialect has no such page. */
export function tokenQuestion(dialect: Dialect, model: string): ((text: string) => JsonObject) | undefined {
  if (dialect === "llama.cpp") return llamaTokenQuestion
  if (dialect !== "vllm" && dialect !== "sglang") return undefined
  return (prompt) => ({ model, prompt, add_special_tokens: false })
}

/**
 * 200 calls that a small model writes under the grammar of their tools, live. Where `LLAMA_SERVER_URL` says where a
 * llama.cpp server listens, that one is asked, with whatever model it serves; else llama.cpp in this process, with the
 * pocket model, which knows none of these tools and would write no call of them by itself. Counted is whether a reply is
 * a call of a tool that was offered, with arguments that fit its schema.
 */
import { fileURLToPath } from "node:url"
import { createLlamaServerBackend, infer, openLlamaBackend, type Backend } from "@toolwright/backends"
import { grammarToGbnf } from "@toolwright/logits"
import { validate, type JsonSchema } from "@toolwright/toolbox"
import { formatterById, grammarFor, toolsFromJson } from "@toolwright/toolformat"
import type { BenchmarkResult } from "./run.ts"

const CALLS = Number(process.env["BENCH_CALLS"] ?? 200)
const short = (most: number): JsonSchema => ({ type: "string", minLength: 1, maxLength: most })
const level: JsonSchema = { enum: ["low", "middle", "high"] }
/** Schemas of the kinds that tools have; bounded, so that a model that knows nothing of them comes to an end. */
const SCHEMAS: readonly Readonly<Record<string, JsonSchema>>[] = [
  { ship: short(12), berth: { type: "integer", minimum: 1, maximum: 40 } },
  { level, urgent: { type: "boolean" } },
  { depths: { type: "array", items: { type: "number" }, minItems: 1, maxItems: 3 } },
  { date: { type: "string", pattern: "^20[0-9]{2}-(0[1-9]|1[0-2])$" }, note: { anyOf: [short(8), { type: "null" }] } },
  { at: { type: "object", properties: { x: { type: "integer" }, y: level }, required: ["x", "y"] } },
  { pair: { type: "array", prefixItems: [level, { type: "boolean" }], minItems: 2, maxItems: 2 } },
  { kind: { const: "pilot" }, count: { type: "integer", minimum: 0, maximum: 9 } },
  { tags: { type: "array", items: level, maxItems: 2 }, name: short(6) },
]
const NAMES = ["book", "book_berth", "report", "sound", "plan", "move", "call", "tag"]

export async function run(): Promise<BenchmarkResult> {
  const url = process.env["LLAMA_SERVER_URL"]
  const backend = url === undefined ? await pocket() : createLlamaServerBackend({ baseUrl: url, modelName: "served" })
  const tools = NAMES.map((name, index) => ({
    name,
    description: `Does the ${name} of a harbour`,
    parameters: {
      type: "object",
      properties: SCHEMAS[index]!,
      required: Object.keys(SCHEMAS[index]!),
      additionalProperties: false,
    },
  }))
  let valid = 0
  let words = 0
  const started = performance.now()
  try {
    for (let at = 0; at < CALLS; at++) {
      // Two of them at a time; the name of one is the beginning of the other's, once in eight.
      const offered = toolsFromJson([tools[at % tools.length]!, tools[(at + 1) % tools.length]!])
      const grammar = grammarToGbnf(grammarFor("hermes", offered, { mode: "call", parallel: false }))
      const request = { userPrompt: `Do number ${at} of the harbour's work.`, grammar, sampling: { maxTokens: 300 } }
      const { calls } = formatterById("hermes").parse((await infer(backend, request)).text, { tools: offered })
      if (calls.length === 0) words++
      else valid += Number(await fits(calls, offered))
    }
  } finally {
    await backend.close?.()
  }
  return {
    figures: { calls: CALLS, valid, words, "ms a call": (performance.now() - started) / CALLS },
    ratios: { valid_of_calls: valid / CALLS },
  }
}

async function fits(
  calls: readonly { readonly name: string; readonly arguments: object }[],
  offered: ReturnType<typeof toolsFromJson>,
): Promise<boolean> {
  for (const call of calls) {
    const tool = offered.find(({ name }) => name === call.name)
    if (tool === undefined || (await validate(tool.parameters, call.arguments)).length > 0) return false
  }
  return calls.length > 0
}

function pocket(): Promise<Backend> {
  const modelPath = fileURLToPath(import.meta.resolve("@toolwright/pocket/pocket-q8_0.gguf"))
  return openLlamaBackend({ modelPath })
}

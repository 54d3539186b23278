import type { JsonObject } from "@toolwright/toolbox"
import { isObject } from "../../fields.ts"
import { RequestProblem, type Translated } from "../../wire.ts"

/** Ollama's questions for embeddings, put to the page that OpenAI's API has for them. */
export const ollamaEmbeddings: Readonly<Record<string, Translated>> = {
  "/api/embed": {
    to: "embeddings",
    ask({ model, input, dimensions, truncate, options }) {
      const isText = typeof input === "string"
      if (!isText && !(Array.isArray(input) && input.every((one) => typeof one === "string")))
        throw new RequestProblem("'input' must be a text or a list of texts.", "input")
      // Clients that say nothing want the model in memory.
      if (input.length === 0) return { ready: { model: String(model ?? ""), embeddings: [] } }
      const leftOut = [...(truncate === true ? ["truncate"] : []), ...(options === undefined ? [] : ["options"])]
      return { body: { ...named(model), input, encoding_format: "float", ...given({ dimensions }) }, leftOut }
    },
    tell: (answer, { model }, ms) => ({
      model: String(model ?? answer.model ?? ""),
      embeddings: vectorsIn(answer),
      total_duration: Math.round(ms * 1e6),
      load_duration: 0,
      prompt_eval_count: tokensIn(answer),
    }),
  },
  "/api/embeddings": {
    to: "embeddings",
    ask({ model, prompt = "", options }) {
      if (typeof prompt !== "string") throw new RequestProblem("'prompt' must be a text.", "prompt")
      if (prompt === "") return { ready: { embedding: [] } }
      const leftOut = options === undefined ? [] : ["options"]
      return { body: { ...named(model), input: prompt, encoding_format: "float" }, leftOut }
    },
    tell: (answer) => ({ embedding: vectorsIn(answer)[0] ?? [] }),
  },
}

function named(model: unknown): JsonObject {
  return typeof model === "string" && model !== "" ? { model } : {}
}

function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null))
}

/** In the order of the texts, whatever the order in which the server tells them. */
function vectorsIn({ data }: JsonObject): unknown[] {
  const entries = (Array.isArray(data) ? data : []).filter(isObject)
  return entries.toSorted((a, b) => Number(a.index ?? 0) - Number(b.index ?? 0)).map(({ embedding }) => embedding)
}

function tokensIn({ usage }: JsonObject): number {
  const count = isObject(usage) ? usage.prompt_tokens : undefined
  return typeof count === "number" ? count : 0
}

import type { JsonObject } from "@toolwright/toolbox"
import { RequestProblem, type ServedModels, type Wire } from "../../wire.ts"
import { ollamaEmbeddings } from "./embed.ts"
import { readOllamaChat, readOllamaGenerate } from "./read.ts"
import { ollamaFailure, ollamaStream, ollamaWhole } from "./write.ts"

/** The version of Ollama whose API this is: clients look at it before they ask for tools or thoughts. */
const VERSION = "0.13.0"

/** Ollama's own API, as its clients and most chat programs for local models speak it. */
export const ollama: Wire = {
  id: "ollama",
  paths: ["/api/chat", "/api/generate"],
  untyped: true,
  read(body, { path }) {
    const generate = path.endsWith("/generate")
    if (asksToLoad(body, generate)) return { ready: (model) => loaded(model, body, generate) }
    const request = generate ? readOllamaGenerate(body) : readOllamaChat(body)
    const about = { request, generate, thinking: body.think !== false, started: performance.now() }
    return {
      request,
      streamed: (head) => ollamaStream(head, about),
      whole: (head, reply) => ollamaWhole(head, reply, about),
    }
  },
  failure: ollamaFailure,
  others: { "/api/show": shown },
  translated: ollamaEmbeddings,
  pages: {
    "/api/version": () => ({ version: VERSION }),
    "/api/tags": ({ names }) => ({ models: names.map(entryOf) }),
    "/api/ps": ({ names, contextTokens }) => ({ models: names.map((name) => loadedOf(name, contextTokens)) }),
  },
}

/** Clients that say nothing want the model in memory, or out of it. */
function asksToLoad({ prompt, messages, images, system }: JsonObject, generate: boolean): boolean {
  if (generate) return !prompt && !images && !system
  return messages === undefined || messages === null || (Array.isArray(messages) && messages.length === 0)
}

/** The model is where its server has it: there is nothing to load. */
function loaded(model: string, { keep_alive: stay }: JsonObject, generate: boolean): JsonObject {
  const unload = stay === 0 || /^0+[a-z]*$/.test(String(stay))
  const said = generate ? { response: "" } : { message: { role: "assistant", content: "" } }
  return { model, created_at: new Date().toISOString(), ...said, done: true, done_reason: unload ? "unload" : "load" }
}

const DETAILS = {
  parent_model: "",
  format: "gguf",
  family: "toolwright",
  families: ["toolwright"],
  parameter_size: "",
  quantization_level: "",
}

function entryOf(name: string): JsonObject {
  return { name, model: name, modified_at: "1970-01-01T00:00:00Z", size: 0, digest: "", details: DETAILS }
}

/** A model that is there and stays. */
function loadedOf(name: string, contextTokens: number | undefined): JsonObject {
  const window = contextTokens === undefined ? {} : { context_length: contextTokens }
  return { ...entryOf(name), expires_at: "9999-12-31T23:59:59Z", size_vram: 0, ...window }
}

/** @throws RequestProblem for a model that is not there: clients ask so whether they have to pull it */
function shown({ model, name }: JsonObject, { names, contextTokens }: ServedModels): JsonObject {
  const wanted = String(model ?? name ?? "")
  if (!names.some((one) => one === wanted || `${one}:latest` === wanted))
    throw new RequestProblem(`model '${wanted}' not found. There is: ${names.join(", ")}.`, "model", 404)
  return {
    modelfile: "",
    parameters: contextTokens === undefined ? "" : `num_ctx ${contextTokens}`,
    template: "",
    details: DETAILS,
    model_info: {
      "general.architecture": "toolwright",
      ...(contextTokens === undefined ? {} : { "toolwright.context_length": contextTokens }),
    },
    capabilities: ["completion", "tools", "vision", "thinking"],
    modified_at: "1970-01-01T00:00:00Z",
  }
}

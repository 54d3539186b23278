import type { JsonObject } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import { given, isObject, numberAt, switchAt, textsAt } from "../../fields.ts"
import { RequestProblem, type GatewayRequest } from "../../wire.ts"
import { picturesOf, readMessages } from "./messages.ts"

/** What is read; a model of a server that is not Ollama is neither loaded nor unloaded. */
const READ = new Set("model messages prompt system images tools format options stream think keep_alive".split(" "))
/** Options that are sampler settings. */
const SAMPLING = new Set(
  "temperature top_k top_p min_p num_predict repeat_penalty frequency_penalty presence_penalty seed stop".split(" "),
)

/** @throws RequestProblem */
export function readOllamaChat(fields: JsonObject): GatewayRequest {
  return requestOf(fields, readMessages(fields.messages), toolsOf(fields.tools))
}

/** @throws RequestProblem */
export function readOllamaGenerate(fields: JsonObject): GatewayRequest {
  for (const name of ["raw", "suffix", "context", "template"]) {
    const value = fields[name]
    if (value === undefined || value === null || value === false || value === "") continue
    throw new RequestProblem(`'${name}' cannot be had: send the conversation to /api/chat.`, name)
  }
  const media = picturesOf(fields.images, "images")
  const user = { role: "user" as const, content: String(fields.prompt ?? ""), ...(media.length === 0 ? {} : { media }) }
  const system = typeof fields.system === "string" && fields.system !== "" ? fields.system : undefined
  const before: ChatMessage[] = system === undefined ? [] : [{ role: "system", content: system }]
  return requestOf(fields, [...before, user], [])
}

function requestOf(fields: JsonObject, messages: ChatMessage[], tools: OpenAITool[]): GatewayRequest {
  const options = isObject(fields.options) ? fields.options : {}
  const jsonSchema = schemaOf(fields.format)
  const unread = Object.keys(fields).filter((name) => !READ.has(name) && isSet(fields[name]))
  const others = Object.keys(options).filter((name) => !SAMPLING.has(name))
  return {
    model: typeof fields.model === "string" ? fields.model : "",
    messages,
    tools,
    toolChoice: "auto",
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    sampling: samplingOf(options),
    extraBody: thinkOf(fields.think),
    leftOut: [...unread, ...others.map((name) => `options.${name}`)],
    stream: switchAt(fields, "stream") ?? true,
  }
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== ""
}

function samplingOf(options: JsonObject): GatewayRequest["sampling"] {
  const most = numberAt(options, "num_predict")
  return given({
    temperature: numberAt(options, "temperature"),
    topK: numberAt(options, "top_k"),
    topP: numberAt(options, "top_p"),
    minP: numberAt(options, "min_p"),
    repetitionPenalty: numberAt(options, "repeat_penalty"),
    frequencyPenalty: numberAt(options, "frequency_penalty"),
    presencePenalty: numberAt(options, "presence_penalty"),
    // -1 and -2 stand for no limit.
    maxTokens: most === undefined || most < 0 ? undefined : most,
    seed: numberAt(options, "seed"),
    stop: textsAt(options, "stop"),
  })
}

/** Whether the model shall think, in the words of the servers that have a switch for it. */
function thinkOf(think: unknown): JsonObject {
  if (typeof think === "boolean") return { chat_template_kwargs: { enable_thinking: think } }
  return typeof think === "string" ? { reasoning_effort: think } : {}
}

function schemaOf(format: unknown): JsonObject | undefined {
  if (format === undefined || format === null || format === "") return undefined
  if (format === "json") return { type: "object" }
  if (isObject(format)) return format
  throw new RequestProblem("'format' must be json or a JSON Schema.", "format")
}

function toolsOf(list: unknown): OpenAITool[] {
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) throw new RequestProblem("'tools' must be a list.", "tools")
  return list.map((tool, at) => {
    const body = isObject(tool) && isObject(tool.function) ? tool.function : {}
    const { name, description, parameters } = body
    if (typeof name !== "string") throw new RequestProblem("Every tool needs a name.", `tools[${at}].function.name`)
    const schema = isObject(parameters) ? parameters : { type: "object" }
    return { type: "function", function: { name, description: String(description ?? ""), parameters: schema } }
  })
}

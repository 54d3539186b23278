import type { JsonObject } from "@toolwright/toolbox"
import { fromOpenAIMessages, type ChatMessage, type OpenAITool } from "@toolwright/toolformat"
import {
  customTool,
  given,
  GrammarRoom,
  imageOf,
  isObject,
  numberAt,
  onlyTools,
  switchAt,
  textsAt,
  type ChosenTools,
} from "../../fields.ts"
import { RequestProblem, type GatewayRequest } from "../../wire.ts"

/** What this wire reads itself; all else goes to the model's server as it is. */
const READ = new Set(
  (
    "model messages stream stream_options tools tool_choice parallel_tool_calls response_format temperature " +
    "top_p top_k min_p " +
    "max_tokens max_completion_tokens stop seed frequency_penalty presence_penalty repetition_penalty " +
    "repeat_penalty logit_bias n"
  ).split(" "),
)
/** What an answer of the gateway has no place for. */
const UNANSWERED = ["logprobs", "top_logprobs", "prediction", "web_search_options"]

/** @throws RequestProblem */
export function readChat(fields: JsonObject): GatewayRequest {
  const messages = messagesOf(fields.messages)
  if ((numberAt(fields, "n") ?? 1) !== 1)
    throw new RequestProblem("'n' must be 1: there is one answer to a request. Send the request several times.", "n")
  const modalities = fields.modalities ?? ["text"]
  if (!Array.isArray(modalities) || modalities.some((one) => one !== "text") || fields.audio)
    throw new RequestProblem("Answers are text: 'modalities' can be [\"text\"] alone.", "modalities")
  for (const older of ["functions", "function_call"]) {
    if (fields[older]) throw new RequestProblem(`'${older}' is the older form: send 'tools' and 'tool_choice'.`, older)
  }
  const parallel = switchAt(fields, "parallel_tool_calls")
  const jsonSchema = schemaOf(fields.response_format)
  const { tools, leftOut } = toolsOf(fields.tools)
  const unanswered = UNANSWERED.filter((name) => fields[name])
  const others = Object.entries(fields).filter(([name]) => !READ.has(name) && !UNANSWERED.includes(name))
  return {
    model: typeof fields.model === "string" ? fields.model : "",
    messages,
    ...choose(tools, fields.tool_choice),
    ...(parallel === undefined ? {} : { parallelToolCalls: parallel }),
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    sampling: samplingOf(fields),
    extraBody: Object.fromEntries(others.filter(([name, value]) => value !== null && name !== "modalities")),
    leftOut: [...unanswered, ...leftOut, ...namesIn(fields.messages)],
    stream: switchAt(fields, "stream") ?? false,
  }
}

function messagesOf(given: unknown): ChatMessage[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new RequestProblem("'messages' must be a list that is not empty.", "messages")
  const messages = fromOpenAIMessages(given)
  if (messages.length !== given.length)
    throw new RequestProblem("Every message needs a role: system, user, assistant or tool.", "messages")
  return given.flatMap((entry: JsonObject, at) => {
    const pictures = checkParts(entry, at)
    // No message but the user's has a place for pictures; those of a result come right after it.
    return messages[at]!.role === "tool" && pictures.length > 0
      ? [messages[at]!, { role: "user", content: "", media: pictures }]
      : [messages[at]!]
  })
}

type Pictures = NonNullable<Extract<ChatMessage, { role: "user" }>["media"]>[number][]

/** @throws RequestProblem for a part that would be lost */
function checkParts({ role, content, function_call: older }: JsonObject, at: number): Pictures {
  if (older) throw new RequestProblem("A call stands in 'tool_calls'.", `messages[${at}].function_call`)
  if (!Array.isArray(content)) return []
  const pictures: Pictures = []
  for (const [index, part] of content.entries()) {
    const param = `messages[${at}].content[${index}]`
    const { type } = part as { type?: unknown }
    if (type === "image_url") {
      const picture = imageOf((part as { image_url?: { url?: unknown } }).image_url?.url)
      if (picture === undefined)
        throw new RequestProblem("A picture must be a 'data:' address with base64, or an http(s) one.", param)
      pictures.push(picture)
    } else if (type === "input_audio" && role === "user") continue
    else if (type !== "text" && type !== "refusal" && type !== "thinking")
      throw new RequestProblem(`Parts of the type '${String(type)}' cannot be passed on. Send them as text.`, param)
    if (type === "image_url" && role !== "user" && role !== "tool")
      throw new RequestProblem("A picture can stand in a message of the user or of a tool.", param)
  }
  return pictures
}

/** Names of the ones who speak, which chat templates have no place for. */
function namesIn(messages: unknown): string[] {
  const entries = (Array.isArray(messages) ? messages : []).filter(isObject)
  return entries.some(({ role, name }) => role !== "tool" && typeof name === "string") ? ["messages.name"] : []
}

/** Functions, and custom tools as functions of one text. */
function toolsOf(given: unknown): { tools: OpenAITool[]; leftOut: string[] } {
  const leftOut: string[] = []
  if (given === undefined || given === null) return { tools: [], leftOut }
  if (!Array.isArray(given)) throw new RequestProblem("'tools' must be a list.", "tools")
  const room = new GrammarRoom()
  const tools = given.map((tool: unknown, at) => {
    const { type, function: body, custom } = (isObject(tool) ? tool : {}) as JsonObject
    if (type === "function" && isObject(body) && typeof body.name === "string") return tool as OpenAITool
    if (type !== "custom" || !isObject(custom) || typeof custom.name !== "string")
      throw new RequestProblem(
        "Every tool must have the form { type: 'function', function: { name, description, parameters } }, " +
          "or { type: 'custom', custom: { name, description, format } }.",
        "tools",
      )
    const { tool: one, grammarLeft } = customTool({ ...custom, name: custom.name }, room)
    if (grammarLeft) leftOut.push(`tools[${at}].custom.format`)
    return one
  })
  return { tools, leftOut }
}

/** A choice of some tools is those alone. */
function choose(tools: OpenAITool[], choice: unknown): ChosenTools {
  if (choice === undefined || choice === null || choice === "auto") return { tools, toolChoice: "auto" }
  if (choice === "none" || choice === "required") return { tools, toolChoice: choice }
  if (isObject(choice) && choice.type === "allowed_tools") {
    const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : choice
    const names = (Array.isArray(allowed.tools) ? allowed.tools : []).map(nameOf)
    return onlyTools(tools, names, allowed.mode === "required")
  }
  const name = nameOf(choice)
  if (name !== "") return onlyTools(tools, [name], true)
  throw new RequestProblem(
    "'tool_choice' must be auto, none, required, one function, or { type: 'allowed_tools', … }.",
    "tool_choice",
  )
}

function nameOf(tool: unknown): string {
  const {
    name,
    function: body,
    custom,
  } = (isObject(tool) ? tool : {}) as Record<string, { name?: unknown } | undefined>
  return String(body?.name ?? custom?.name ?? name ?? "")
}

function samplingOf(fields: JsonObject): GatewayRequest["sampling"] {
  const { logit_bias: bias = null } = fields
  if (bias !== null && !isObject(bias)) throw new RequestProblem("'logit_bias' must be an object.", "logit_bias")
  return given({
    temperature: numberAt(fields, "temperature"),
    topP: numberAt(fields, "top_p"),
    topK: numberAt(fields, "top_k"),
    minP: numberAt(fields, "min_p"),
    repetitionPenalty: numberAt(fields, "repetition_penalty") ?? numberAt(fields, "repeat_penalty"),
    maxTokens: numberAt(fields, "max_completion_tokens") ?? numberAt(fields, "max_tokens"),
    seed: numberAt(fields, "seed"),
    frequencyPenalty: numberAt(fields, "frequency_penalty"),
    presencePenalty: numberAt(fields, "presence_penalty"),
    stop: textsAt(fields, "stop"),
    logitBias: bias === null ? undefined : (bias as Record<number, number>),
  })
}

function schemaOf(format: unknown): JsonObject | undefined {
  if (format === undefined || format === null) return undefined
  const { type, json_schema: schema } = format as { type?: unknown; json_schema?: { schema?: unknown } }
  if (type === "text") return undefined
  if (type === "json_object") return { type: "object" }
  if (type === "json_schema" && isObject(schema?.schema)) return schema.schema
  throw new RequestProblem(
    "'response_format' must be text, json_object, or json_schema with a schema.",
    "response_format",
  )
}

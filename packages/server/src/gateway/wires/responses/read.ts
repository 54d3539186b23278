import type { JsonObject } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import { given, isObject, numberAt, onlyTools, switchAt, type ChosenTools } from "../../fields.ts"
import { RequestProblem, type GatewayRequest } from "../../wire.ts"
import { readItems } from "./input.ts"
import { OfferedTools } from "./tools.ts"

/** What this wire reads, or what has no bearing on an answer. */
const READ = new Set(
  (
    "model input instructions stream stream_options store include metadata tools tool_choice " +
    "parallel_tool_calls text " +
    "reasoning temperature top_p max_output_tokens previous_response_id truncation client_metadata background " +
    "top_logprobs context_management moderation"
  ).split(" "),
)

/** A request that was read, with what its answer says of it again. */
export interface ReadResponse {
  request: GatewayRequest
  offered: OfferedTools
}

/** @throws RequestProblem */
export function readResponses(fields: JsonObject, items: readonly JsonObject[]): ReadResponse {
  const offered = new OfferedTools(fields.tools)
  const messages = readItems(items, offered)
  const { instructions } = fields
  if (typeof instructions === "string" && instructions !== "")
    messages.unshift({ role: "system", content: instructions })
  if (messages.length === 0) throw new RequestProblem("'input' must not be empty.", "input")
  checkKept(fields)
  const parallel = switchAt(fields, "parallel_tool_calls")
  const jsonSchema = schemaOf(fields.text)
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  const verbosity = isObject(fields.text) ? fields.text.verbosity : undefined
  const others = Object.entries(fields).filter(([name, value]) => !READ.has(name) && value !== null)
  const request: GatewayRequest = {
    model: typeof fields.model === "string" ? fields.model : "",
    messages,
    ...choose(offered.tools, fields.tool_choice),
    ...(offered.deferred.length === 0 ? {} : { deferred: offered.deferred }),
    ...(parallel === undefined ? {} : { parallelToolCalls: parallel }),
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    sampling: given({
      temperature: numberAt(fields, "temperature"),
      topP: numberAt(fields, "top_p"),
      maxTokens: numberAt(fields, "max_output_tokens"),
    }),
    extraBody: {
      ...Object.fromEntries(others),
      ...(typeof effort === "string" ? { reasoning_effort: effort } : {}),
      ...(typeof verbosity === "string" ? { verbosity } : {}),
    },
    leftOut: [...offered.leftOut, ...unanswered(fields)],
    stream: switchAt(fields, "stream") ?? false,
  }
  return { request, offered }
}

/** @throws RequestProblem for what OpenAI keeps, and what would be another question without it */
function checkKept(fields: JsonObject): void {
  if (fields.background === true)
    throw new RequestProblem("Answers cannot be worked on in the background.", "background")
  for (const name of ["conversation", "prompt"]) {
    if (fields[name] === undefined || fields[name] === null) continue
    throw new RequestProblem(`A '${name}' that OpenAI keeps cannot be had here: send it in 'input'.`, name)
  }
}

/** What an answer of the gateway has no place for. */
function unanswered({ include, truncation, ...fields }: JsonObject): string[] {
  const wanted = Array.isArray(include) ? include.map((one) => `include.${String(one)}`) : []
  const others = ["top_logprobs", "context_management", "moderation"].filter((name) => fields[name])
  return [...wanted, ...(truncation === "auto" ? ["truncation"] : []), ...others]
}

function choose(tools: OpenAITool[], choice: unknown): ChosenTools {
  if (choice === undefined || choice === null || choice === "auto") return { tools, toolChoice: "auto" }
  if (choice === "none" || choice === "required") return { tools, toolChoice: choice }
  if (isObject(choice) && choice.type === "allowed_tools" && Array.isArray(choice.tools)) {
    const names = choice.tools.filter(isObject).map(({ name }) => String(name))
    return onlyTools(tools, names, choice.mode === "required")
  }
  if (isObject(choice) && typeof choice.name === "string") return onlyTools(tools, [choice.name], true)
  throw new RequestProblem("'tool_choice' must be auto, none, required, one tool, or allowed_tools.", "tool_choice")
}

function schemaOf(text: unknown): JsonObject | undefined {
  const format = isObject(text) && isObject(text.format) ? text.format : { type: "text" }
  if (format.type === "text") return undefined
  if (format.type === "json_object") return { type: "object" }
  if (format.type === "json_schema" && isObject(format.schema)) return format.schema
  throw new RequestProblem("'text.format' must be text, json_object, or json_schema with a schema.", "text.format")
}

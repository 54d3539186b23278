import type { JsonObject } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import { given, isObject, numberAt, onlyTools, type ChosenTools } from "../../fields.ts"
import { RequestProblem, type GatewayRequest } from "../../wire.ts"
import { readItems } from "./input.ts"
import { OfferedTools } from "./tools.ts"

/** What this wire reads, or what has no bearing on an answer. */
const READ = new Set(
  (
    "model input instructions stream stream_options store include metadata tools tool_choice parallel_tool_calls text " +
    "reasoning temperature top_p max_output_tokens previous_response_id truncation client_metadata"
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
  if (fields.background === true)
    throw new RequestProblem("Answers cannot be worked on in the background.", "background")
  const jsonSchema = schemaOf(fields.text)
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  const others = Object.entries(fields).filter(([name, value]) => !READ.has(name) && value !== null)
  const request: GatewayRequest = {
    model: typeof fields.model === "string" ? fields.model : "",
    messages,
    ...choose(offered.tools, fields.tool_choice),
    ...(offered.deferred.length === 0 ? {} : { deferred: offered.deferred }),
    ...(typeof fields.parallel_tool_calls === "boolean" ? { parallelToolCalls: fields.parallel_tool_calls } : {}),
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    sampling: given({
      temperature: numberAt(fields, "temperature"),
      topP: numberAt(fields, "top_p"),
      maxTokens: numberAt(fields, "max_output_tokens"),
    }),
    extraBody: {
      ...Object.fromEntries(others),
      ...(typeof effort === "string" ? { reasoning_effort: effort } : {}),
    },
    leftOut: offered.leftOut,
    stream: fields.stream === true,
  }
  return { request, offered }
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

import type { JsonObject } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import { given, isObject, numberAt, onlyTools, type ChosenTools } from "../../fields.ts"
import { RequestProblem, type GatewayRequest } from "../../wire.ts"
import { readItems } from "./input.ts"

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
  /** Names of tools whose input is one text and no JSON. */
  custom: ReadonlySet<string>
}

/** @throws RequestProblem */
export function readResponses(fields: JsonObject, items: readonly JsonObject[]): ReadResponse {
  const messages = readItems(items)
  const { instructions } = fields
  if (typeof instructions === "string" && instructions !== "")
    messages.unshift({ role: "system", content: instructions })
  if (messages.length === 0) throw new RequestProblem("'input' must not be empty.", "input")
  if (fields.background === true)
    throw new RequestProblem("Answers cannot be worked on in the background.", "background")
  const { tools, custom, leftOut } = toolsOf(fields.tools)
  const jsonSchema = schemaOf(fields.text)
  const effort = isObject(fields.reasoning) ? fields.reasoning.effort : undefined
  const others = Object.entries(fields).filter(([name, value]) => !READ.has(name) && value !== null)
  const request: GatewayRequest = {
    model: typeof fields.model === "string" ? fields.model : "",
    messages,
    ...choose(tools, fields.tool_choice),
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
    leftOut,
    stream: fields.stream === true,
  }
  return { request, custom }
}

/** Functions, and custom tools as functions of one text. What OpenAI would run itself is not there. */
function toolsOf(list: unknown): { tools: OpenAITool[]; custom: Set<string>; leftOut: string[] } {
  if (list !== undefined && list !== null && !Array.isArray(list))
    throw new RequestProblem("'tools' must be a list.", "tools")
  const tools: OpenAITool[] = []
  const custom = new Set<string>()
  const leftOut: string[] = []
  const add = (tool: unknown, at: string): void => {
    const { type, name, description, parameters, tools: inner } = (isObject(tool) ? tool : {}) as JsonObject
    if (type === "namespace" && Array.isArray(inner)) {
      for (const [index, one] of inner.entries()) add(one, `${at}.tools[${index}]`)
      return
    }
    if (type !== "function" && type !== "custom") {
      leftOut.push(`tools.${String(type)}`)
      return
    }
    if (typeof name !== "string") throw new RequestProblem("Every tool needs a name.", `${at}.name`)
    if (type === "custom") custom.add(name)
    const said = type === "custom" ? customText(tool as JsonObject) : String(description ?? "")
    const schema = type === "custom" ? ONE_TEXT : isObject(parameters) ? parameters : { type: "object" }
    tools.push({ type: "function", function: { name, description: said, parameters: schema } })
  }
  for (const [at, tool] of (Array.isArray(list) ? list : []).entries()) add(tool, `tools[${at}]`)
  return { tools, custom, leftOut }
}

const ONE_TEXT = { type: "object", properties: { input: { type: "string" } }, required: ["input"] }

/** A grammar that the text shall keep to is told in words. */
function customText({ description, format }: JsonObject): string {
  const { definition, syntax } = isObject(format) ? (format as { definition?: unknown; syntax?: unknown }) : {}
  const rules =
    typeof definition === "string" ? `\n\nThe input follows this ${String(syntax)} grammar:\n${definition}` : ""
  return `${String(description ?? "")}${rules}`
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

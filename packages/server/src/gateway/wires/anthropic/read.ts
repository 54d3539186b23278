import type { JsonObject } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import { given, isObject, numberAt, onlyTools, switchAt, textsAt, type ChosenTools } from "../../fields.ts"
import { RequestProblem, type GatewayRequest } from "../../wire.ts"
import { hasBilling, namedTools, readMessages } from "./messages.ts"

/** What this wire reads, or what has no bearing on an answer. */
const READ = new Set(
  (
    "model messages system max_tokens stream tools tool_choice temperature top_p top_k stop_sequences thinking " +
    "metadata output_format output_config"
  ).split(" "),
)

/** @throws RequestProblem */
export function readAnthropic(fields: JsonObject): GatewayRequest {
  const messages = readMessages(fields.system, fields.messages)
  const { tools, deferred, leftOut } = toolsOf(fields.tools, namedTools(fields.messages))
  const choice = isObject(fields.tool_choice) ? fields.tool_choice : {}
  const jsonSchema = schemaOf(fields)
  const stopAt = textsAt(fields, "stop_sequences")
  const { effort } = isObject(fields.output_config) ? (fields.output_config as { effort?: unknown }) : {}
  const others = Object.keys(fields).filter((name) => !READ.has(name) && fields[name] !== null)
  return {
    model: typeof fields.model === "string" ? fields.model : "",
    messages,
    ...choose(tools, choice),
    ...(deferred.length === 0 ? {} : { deferred }),
    ...(choice.disable_parallel_tool_use === true ? { parallelToolCalls: false } : {}),
    ...(jsonSchema === undefined ? {} : { jsonSchema }),
    sampling: given({
      temperature: numberAt(fields, "temperature"),
      topP: numberAt(fields, "top_p"),
      topK: numberAt(fields, "top_k"),
      maxTokens: numberAt(fields, "max_tokens"),
    }),
    ...(stopAt === undefined || stopAt.length === 0 ? {} : { stopAt }),
    extraBody: typeof effort === "string" ? { reasoning_effort: effort } : {},
    leftOut: [
      ...leftOut,
      ...(hasBilling(fields.system) ? ["system.billing"] : []),
      ...budgetOf(fields.thinking),
      ...others,
    ],
    stream: switchAt(fields, "stream") ?? false,
  }
}

/** Whether the client wants to see what the model thinks. */
export function wantsThinking({ thinking }: JsonObject): boolean {
  return isObject(thinking) && (thinking.type === "enabled" || thinking.type === "adaptive")
}

/** Models of one's own take no budget for their thoughts. */
function budgetOf(thinking: unknown): string[] {
  return isObject(thinking) && thinking.budget_tokens !== undefined ? ["thinking.budget_tokens"] : []
}

/**
 * Tools of the client's own; those that Anthropic would run, or knows by heart, are not there. What is deferred is told
 * once the client's search has named it, after all others, so that the prompt before it stays as it was; where
 * Anthropic would run the search, ours is run.
 */
function toolsOf(
  list: unknown,
  named: readonly string[],
): { tools: OpenAITool[]; deferred: string[]; leftOut: string[] } {
  if (list === undefined || list === null) return { tools: [], deferred: [], leftOut: [] }
  if (!Array.isArray(list)) throw new RequestProblem("'tools' must be a list.", "tools")
  const tools: OpenAITool[] = []
  const leftOut: string[] = []
  const deferred = new Map<string, OpenAITool>()
  for (const [at, tool] of list.entries()) {
    const { name, type, description, input_schema: parameters, ...more } = (isObject(tool) ? tool : {}) as JsonObject
    if (typeof name !== "string") throw new RequestProblem("Every tool needs a name.", `tools.${at}.name`)
    if (!isObject(parameters)) {
      if (isTheirSearch(type)) continue
      if (typeof type !== "string" || type === "custom")
        throw new RequestProblem("Every tool needs an input_schema.", `tools.${at}.input_schema`)
      leftOut.push(`tools.${name}`)
      continue
    }
    const told: OpenAITool = {
      type: "function",
      function: { name, description: String(description ?? ""), parameters },
    }
    if (more.defer_loading === true) deferred.set(name, told)
    else tools.push(told)
  }
  if (list.some((tool) => isObject(tool) && isTheirSearch(tool.type)))
    return { tools: [...tools, ...deferred.values()], deferred: [...deferred.keys()], leftOut }
  return { tools: [...tools, ...named.flatMap((name) => deferred.get(name) ?? [])], deferred: [], leftOut }
}

function isTheirSearch(type: unknown): boolean {
  return String(type).startsWith("tool_search_tool")
}

function choose(tools: OpenAITool[], { type, name }: JsonObject): ChosenTools {
  if (type === undefined || type === "auto") return { tools, toolChoice: "auto" }
  if (type === "none") return { tools, toolChoice: "none" }
  if (type === "any") return { tools, toolChoice: "required" }
  if (type === "tool") return onlyTools(tools, [String(name)], true)
  throw new RequestProblem("'tool_choice' must be of the type auto, any, tool or none.", "tool_choice.type")
}

function schemaOf({ output_format: format, output_config: config }: JsonObject): JsonObject | undefined {
  const wanted = isObject(config) && isObject(config.format) ? config.format : format
  return isObject(wanted) && wanted.type === "json_schema" && isObject(wanted.schema) ? wanted.schema : undefined
}

import type { JsonObject } from "@toolwright/toolbox"
import { customNames, toOpenAIMessages, withCustomTools } from "@toolwright/toolformat"
import { conflictingConstraints, constraintsOf } from "../failures.ts"
import type { InferRequest } from "../model/backend.ts"
import { constraintFields, samplingFields, type Dialect } from "./dialect.ts"

/** What of a request's body does not come from the request. */
export interface BodySettings {
  modelName: string
  dialect: Dialect
  stream: boolean
  includeReasoning: boolean
}

/**
 * The body of a chat completion.
 *
 * @throws ToolwrightError `CONFLICTING_CONSTRAINTS`, `CONSTRAINT_UNSUPPORTED`
 */
export function chatBody(
  request: InferRequest,
  { modelName, dialect, stream, includeReasoning }: BodySettings,
): JsonObject {
  const constraints = constraintsOf(request)
  if (constraints.length > 1) throw conflictingConstraints(constraints)
  const { messages, tools: given = [], toolChoice, parallelToolCalls, sampling, extraBody } = request
  // Only OpenAI itself knows custom tools; elsewhere their text is an argument.
  const custom = dialect === "openai" ? customNames(given) : new Set<string>()
  const tools = custom.size === 0 ? given : given.map(withCustomTools)
  return {
    model: modelName,
    messages: toOpenAIMessages(messages, { includeReasoning, custom }),
    ...(tools.length === 0 ? {} : { tools, tool_choice: toolChoice ?? "auto" }),
    ...(tools.length === 0 || parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
    ...constraintFields(request, dialect),
    ...samplingFields(sampling, dialect).fields,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...extraBody,
  }
}

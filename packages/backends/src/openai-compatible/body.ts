import type { JsonObject } from "@toolwright/toolbox"
import { toOpenAIMessages } from "@toolwright/toolformat"
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
  const { messages, tools = [], toolChoice, parallelToolCalls, sampling, extraBody } = request
  return {
    model: modelName,
    messages: toOpenAIMessages(messages, { includeReasoning }),
    ...(tools.length === 0 ? {} : { tools, tool_choice: toolChoice ?? "auto" }),
    ...(tools.length === 0 || parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
    ...constraintFields(request, dialect),
    ...samplingFields(sampling, dialect).fields,
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    ...extraBody,
  }
}

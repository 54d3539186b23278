import type { OpenAITool } from "@toolwright/toolformat"
import type { GatewayRequest } from "./wire.ts"
import { estimatedTokens } from "./wires/estimate.ts"

/** An estimate may be so much too low: tokens of code and of other scripts are shorter. */
const MARGIN = 1.3
/** Left in any case: where not even that fits, the model's server says so best. */
const LEAST = 256

/**
 * A request with no more wanted of its reply than the model's window leaves room for: some clients always ask for as
 * much as the models that they know can give, and some servers refuse that. `room` is what it was made, where it was;
 * `declared` are the tools that its prompt begins with.
 */
export function withRoom(
  request: GatewayRequest,
  contextTokens: number | undefined,
  declared: readonly OpenAITool[],
): { request: GatewayRequest; room: number | undefined } {
  const { maxTokens } = request.sampling
  if (contextTokens === undefined || maxTokens === undefined) return { request, room: undefined }
  const room = Math.max(
    LEAST,
    Math.floor(contextTokens - estimatedTokens({ messages: request.messages, tools: declared }) * MARGIN),
  )
  if (maxTokens <= room) return { request, room: undefined }
  return { request: { ...request, sampling: { ...request.sampling, maxTokens: room } }, room }
}

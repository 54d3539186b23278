import type { Usage } from "@toolwright/backends"
import type { OpenAITool } from "@toolwright/toolformat"
import type { GatewayRequest } from "../wire.ts"

/** Tokens of a request, where nobody counted them: a quarter of its characters, and a fixed share for each picture. */
export function estimatedTokens({
  messages,
  tools,
}: Pick<GatewayRequest, "messages"> & { tools: readonly OpenAITool[] }): number {
  const texts = messages.reduce((sum, message) => {
    const calls = message.role === "assistant" && message.toolCalls ? JSON.stringify(message.toolCalls).length : 0
    return sum + message.content.length + calls + 16
  }, 0)
  const pictures = messages.reduce((sum, { ...message }) => {
    return sum + (message.role === "user" ? (message.media?.length ?? 0) : 0)
  }, 0)
  const definitions = tools.length === 0 ? 0 : JSON.stringify(tools).length
  return Math.ceil((texts + definitions) / 4) + pictures * TOKENS_OF_A_PICTURE
}

const TOKENS_OF_A_PICTURE = 800

/** What a wire says that must say a number: the server's count, or an estimate. */
export function usageOr(usage: Usage | undefined, request: GatewayRequest, written: number): Usage {
  return usage ?? { inputTokens: estimatedTokens(request), outputTokens: Math.ceil(written / 4) }
}

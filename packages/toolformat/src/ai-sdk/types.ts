/*
 * What this adapter reads of the AI SDK's types, structurally: the same shapes serve language models of specification
 * v3 (ai@6) and v4 (ai@7). Fields that are not named here pass through untouched.
 */

export interface PromptPart {
  type: string
  text?: string
  toolCallId?: string
  toolName?: string
  input?: unknown
  output?: { type: string; value?: unknown; reason?: string | undefined }
}

export interface PromptMessage {
  role: "system" | "user" | "assistant" | "tool"
  content: string | readonly PromptPart[]
}

export interface ToolEntry {
  type: string
  name?: string
  description?: string | undefined
  inputSchema?: unknown
}

export interface CallParams {
  prompt: readonly PromptMessage[]
  tools?: readonly ToolEntry[] | undefined
  toolChoice?: { type: string; toolName?: string } | undefined
  stopSequences?: readonly string[] | undefined
}

export interface ContentPart {
  type: string
  text?: string
}

export interface GenerateResult {
  content: readonly ContentPart[]
  finishReason: unknown
}

export interface StreamPart {
  type: string
  id?: string
  delta?: string
  finishReason?: unknown
}

export interface StreamResult {
  stream: ReadableStream<unknown>
}

export interface ModelInfo {
  modelId: string
}

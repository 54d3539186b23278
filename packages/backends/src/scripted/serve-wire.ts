import type { FinishReason, InferEvent, Usage } from "../model/backend.ts"

/** What every chunk of a completion repeats: its id, the model, and when it was made, in seconds since 1970. */
export interface CompletionHead {
  id: string
  model: string
  created: number
}

/** The chunks of a streamed chat completion, as JSON texts, with the final `[DONE]`. */
export async function* completionChunks(
  events: AsyncIterable<InferEvent>,
  head: CompletionHead,
): AsyncGenerator<string> {
  const chunk = (delta: object, finish: string | null = null) =>
    JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: finish }] })
  for await (const event of events) {
    if (event.type === "text-delta") yield chunk({ content: event.text })
    else if (event.type === "reasoning-delta") yield chunk({ reasoning_content: event.text })
    else if (event.type === "call-delta") yield chunk({ tool_calls: [wireCall(event)] })
    else if (event.type === "end") {
      yield chunk({}, wireFinish(event.finishReason))
      if (event.usage !== undefined)
        yield JSON.stringify({ ...head, object: "chat.completion.chunk", choices: [], usage: wireUsage(event.usage) })
    }
  }
  yield "[DONE]"
}

/** The same as one body. */
export async function wholeCompletion(events: AsyncIterable<InferEvent>, head: CompletionHead): Promise<object> {
  let content = ""
  let reasoning = ""
  let finish = "stop"
  let usage: object | undefined
  const calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = []
  for await (const event of events) {
    if (event.type === "text-delta") content += event.text
    else if (event.type === "reasoning-delta") reasoning += event.text
    else if (event.type === "call-delta") {
      const call = (calls[event.index] ??= {
        id: event.id ?? `call_${event.index}`,
        type: "function",
        function: { name: "", arguments: "" },
      })
      call.function.name += event.name ?? ""
      call.function.arguments += event.arguments ?? ""
    } else if (event.type === "end") {
      finish = wireFinish(event.finishReason)
      if (event.usage !== undefined) usage = wireUsage(event.usage)
    }
  }
  const message = {
    role: "assistant",
    content,
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  const choices = [{ index: 0, message, finish_reason: finish }]
  return { ...head, object: "chat.completion", choices, ...(usage === undefined ? {} : { usage }) }
}

function wireCall({ index, id, name, arguments: text }: Extract<InferEvent, { type: "call-delta" }>): object {
  const body = { ...(name === undefined ? {} : { name }), ...(text === undefined ? {} : { arguments: text }) }
  return { index, ...(id === undefined ? {} : { id, type: "function" }), function: body }
}

function wireFinish(reason: FinishReason): string {
  return reason === "tool-calls"
    ? "tool_calls"
    : reason === "content-filter"
      ? "content_filter"
      : reason === "unknown"
        ? "stop"
        : reason
}

function wireUsage({ inputTokens, outputTokens, reasoningTokens }: Usage): object {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    ...(reasoningTokens === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}

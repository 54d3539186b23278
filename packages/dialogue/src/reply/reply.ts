import type { FinishReason, SelfKnowledge, Usage } from "@toolwright/backends"
import {
  failure,
  type ArgumentOrigin,
  type RunEvent,
  type TokenTrace,
  type ToolCall,
  type ToolResult,
} from "@toolwright/toolbox"
import type { ChatMessage, ParseProblem } from "@toolwright/toolformat"

/** What is told of a reply while it comes. */
export type ReplyEvent = Extract<
  RunEvent,
  {
    type: "text-delta" | "reasoning-delta" | "call-start" | "args-delta" | "call-end" | "parse-problem" | "model-retry"
  }
>

/** A whole reply. */
export interface Reply {
  /** The model's text as it came, for the record. */
  raw: string
  /** What it says to the reader. */
  content: string
  /**
   * What of its text goes back to it: what it says before its calls, and what could not be read as a call. Neither its
   * reasoning nor results that it made up itself.
   */
  said: string
  reasoning: string
  calls: ToolCall[]
  problems: ParseProblem[]
  finishReason: FinishReason
  /** What a model that measures its doubt says of the reply. */
  selfKnowledge: SelfKnowledge
  usage?: Usage
  /** What the stretches of `raw` were read as, with the place where each ends. */
  spans?: [kind: string, end: number][]
  /** How the model came to it, where that was asked for. */
  tokens?: TokenTrace
  /** Where the arguments of its calls stand in what was said, where it is known how the model came to it. */
  origins?: ArgumentOrigin[]
  /** Milliseconds from the request to the end. */
  modelMs: number
}

export function emptyReply(): Reply {
  return {
    raw: "",
    content: "",
    said: "",
    reasoning: "",
    calls: [],
    problems: [],
    finishReason: "unknown",
    selfKnowledge: {},
    modelMs: 0,
  }
}

/** A native call whose arguments could not be read, and why. Nothing runs for it; it has a result all the same. */
export interface UnreadCall {
  /** Its place among the calls of its reply. */
  index: number
  call: ToolCall
  message: string
}

/** The calls of a reply that came from a server and could not be read. */
export function unreadCallsOf(problems: readonly Pick<ParseProblem, "call" | "message" | "repaired">[]): UnreadCall[] {
  return problems.flatMap(({ call, message, repaired }) =>
    call === undefined || repaired
      ? []
      : [{ index: call.index, call: { id: call.id, name: call.name, arguments: {} }, message }],
  )
}

/** The calls of a reply as the model made them, those that could not be read in their places. */
export function callsInOrder(read: readonly ToolCall[], unread: readonly UnreadCall[]): ToolCall[] {
  const calls = [...read]
  for (const { index, call } of unread.toSorted((a, b) => a.index - b.index)) calls.splice(index, 0, call)
  return calls
}

/** Results in the order of their calls, whichever was there first. */
export function resultsInOrder(calls: readonly ToolCall[], results: readonly ChatMessage[]): ChatMessage[] {
  const places = new Map(calls.map(({ id }, place) => [id, place]))
  const placeOf = (message: ChatMessage): number =>
    (message.role === "tool" ? places.get(message.callId) : undefined) ?? 0
  return results.toSorted((a, b) => placeOf(a) - placeOf(b))
}

/** The result of a call that could not be read: what was wrong, and to repeat it. */
export function unreadResult({ message }: UnreadCall): ToolResult {
  return failure({
    code: "INVALID_ARGUMENTS",
    message,
    hint: "Nothing was run. Make the call again, with arguments that are one JSON object.",
    retryable: true,
  })
}

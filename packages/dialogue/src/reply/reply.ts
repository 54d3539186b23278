import type { FinishReason, SelfKnowledge, Usage } from "@toolwright/backends"
import type { RunEvent, ToolCall } from "@toolwright/toolbox"
import type { ParseProblem } from "@toolwright/toolformat"

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

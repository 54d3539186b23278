import type { FinishReason, InferRequest, SelfKnowledge, Usage } from "@toolwright/backends"
import type { ToolCall } from "@toolwright/toolbox"

/** A request whose answer is to be told call by call. */
export interface AnswerRequest extends InferRequest {
  /**
   * Whether a call that could not be read, or is wrong, is asked for once more; the answering's own setting unless
   * given.
   */
  repair?: boolean
  /**
   * Texts at which the answer's text ends, and of which its end tells which it was. They are looked for here: servers
   * do not say at which they stopped.
   */
  stopAt?: readonly string[]
  /**
   * Names of tools that are not declared at the front of the prompt, however few there are: the model searches for
   * them.
   */
  deferred?: readonly string[]
}

/**
 * Something about an answer that a program may act on: a call that could not be read, arguments that were put right, a
 * wish that the model did not keep to.
 */
export interface AnswerNote {
  /** Stable, in lower case: a kind of problem of the parsers, or one of {@link NOTE_CODES}. */
  code: string
  message: string
  /** The tool that it is about, where one is known. */
  tool?: string
  /** What the model wrote, where it is told nowhere else. */
  text?: string
}

/** The codes of notes beside the parsers' own. */
export const NOTE_CODES = [
  "repaired-arguments",
  "invalid-arguments",
  "not-checked",
  "unknown-tool",
  "renamed-tool",
  "tools-not-wanted",
  "extra-call",
  "no-call",
  "schema-mismatch",
  "asked-again",
  "grammar-refused",
  "tools-found",
] as const

/**
 * One step of an answer, in order. A call comes whole, once, with arguments that are JSON and, where that is possible,
 * fit the client's schema; what could not be read as a call is text, once. `end` comes exactly once, last.
 */
export type AnswerEvent =
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  | { type: "call"; call: ToolCall }
  | { type: "note"; note: AnswerNote }
  /** The model writes, and nothing of it can be told yet. */
  | { type: "waiting" }
  | { type: "retry"; attempt: number; delayMs: number; reason: string; code?: string }
  | ({ type: "end"; finishReason: FinishReason; usage?: Usage; stoppedAt?: string } & SelfKnowledge)

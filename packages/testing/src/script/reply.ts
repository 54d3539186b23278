import type { Chunks, Expectation, FinishReason, ScriptedFailure, Usage } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import type { Shown } from "./shown.ts"

/** A call that a scripted model makes. */
export interface WantedCall {
  /** The tool's name. */
  call: string
  /** The arguments; as text they are sent as they are, so that they may be broken JSON. */
  arguments?: JsonObject | string
  /**
   * The call is meant to be wrong: an unknown tool, or arguments that its schema forbids. Otherwise such a call fails
   * the test.
   */
  wrong?: boolean
}

/**
 * How a model fails: an HTTP status, or `unreachable`, `timeout`, `cut-off` (the stream breaks), `invalid-json`,
 * `invalid-utf8`, `stall` (it never ends), or the error that it becomes.
 */
export type ModelFailure =
  | number
  | NonNullable<ScriptedFailure["kind"]>
  | "stall"
  | Pick<ScriptedFailure, "status" | "code" | "message" | "hint">

/** What must be true of what the model is shown: data, or a function that throws when it is not. */
export type ShownCheck = Expectation | ((shown: Shown) => void | Promise<void>)

/** A reply in full. What is given comes in this order: reasoning, text, calls, failure. */
export interface ReplyParts extends Partial<WantedCall> {
  text?: string
  reasoning?: string
  /** Several calls in one reply. */
  calls?: readonly WantedCall[]
  /** Fails after whatever is given besides. */
  fail?: ModelFailure
  /** Checked before the model replies. */
  expect?: ShownCheck | readonly ShownCheck[]
  /** Milliseconds before the reply. */
  delayMs?: number
  /** How the reply is cut into deltas, in place of the script's own. */
  chunks?: Chunks
  usage?: Usage
  finish?: FinishReason
  /** How many inferences it answers; 1 unless given. `always` ends a script. */
  repeat?: number | "always"
  /** What it is about, for messages. */
  name?: string
}

/** What a scripted model says when it is its turn: text, a reply in full, or a function of what the model is shown. */
export type ScriptedReply = string | ReplyParts | ((shown: Shown) => string | ReplyParts | Promise<string | ReplyParts>)

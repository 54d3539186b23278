import type { TrialResult } from "./evaluation.ts"
import type { RunOutcome } from "./outcome.ts"
import type { ToolCall, ToolProvenance } from "./tool.ts"
import type { ToolResult } from "./result.ts"
import type { JsonObject } from "./schema.ts"
import type { ArgumentOrigin, TokenTrace } from "./token-trace.ts"
import type { WorkNote } from "./work.ts"

/** A spelling that was put right before a call ran: an alias, a string for a number, one value for a list. */
export interface Repair {
  /** Where in the arguments, as a dotted path; empty for the call itself. */
  path: string
  kind: "tool-alias" | "argument-alias" | "parsed-json" | "coerced-type" | "wrapped-in-array" | "dropped-null"
  from: unknown
  to: unknown
}

/** How it was settled whether a call may run. */
export interface CallPermission {
  /** What the rules say. */
  ruling: "allow" | "ask" | "deny"
  /** Why they say so, as a person reads it. */
  because: string
  /** What came of the question, where they say that somebody is asked. */
  answer?: "approved" | "not approved" | "nobody was there"
}

/** What a call is about to do, and then what it did. `tool-end` always follows `tool-start`. */
export type ToolEvent =
  | {
      type: "tool-start"
      callId: string
      name: string
      arguments: JsonObject
      repairs: Repair[]
      provenance: ToolProvenance
      /** The arguments do not fit, or there is no such tool: nothing is run. */
      refused?: true | undefined
    }
  | { type: "tool-progress"; callId: string; name: string; message?: string; progress?: number; total?: number }
  | {
      type: "tool-end"
      callId: string
      name: string
      result: ToolResult
      /** Not there where nothing came to be asked, as of arguments that do not fit. */
      permission?: CallPermission
    }

/** Where the time of a run went, in milliseconds of wall time. `overheadMs` is what neither model nor tools took. */
export interface RunTimes {
  totalMs: number
  modelMs: number
  toolMs: number
  overheadMs: number
}

/** What a run amounts to. `message` is the agent's answer, or why it ended without one. */
export interface RunSummary {
  runId: string
  outcome: RunOutcome
  success: boolean
  message: string
  rounds: number
  calls: number
  failedCalls: number
  /** Failed calls that were put right later, by a success about the same. */
  correctedFailures: number
  modifiedFiles: string[]
  /** What a person should know: calls that failed for good, checks that were changed, commits that were taken back. */
  notes?: WorkNote[]
  inputTokens: number
  outputTokens: number
  times: RunTimes
  /** The calls were decoded and checked, and none was run. */
  dryRun?: true
  /** The answer as a value, where the run was to answer in a form; not there where it failed to. */
  output?: unknown
  /** What the phases of an agent handed over, by name. */
  artifacts?: Record<string, unknown>
  /** The phase in which it came to nothing. */
  phase?: string
}

/**
 * Everything that happens in a run, in order: the only way that anything outside learns of it. The terminal, streams
 * over HTTP, run records, metrics and tests read this one union.
 *
 * A run begins with `run-start`, or `run-resume` where it goes on in another process, and ends with `run-end`; a round
 * with `round-start` and `round-end`. Deltas of one reply come before its `reply`; `call-end` carries the arguments as
 * decoded; `tool-start` those that ran, after repair.
 */
export type RunEvent =
  | {
      type: "run-start"
      runId: string
      task: string
      agent: string
      model: string
      format: string
      because: string
      tools: string[]
      unavailable: string[]
      dryRun?: true
    }
  | { type: "run-resume"; runId: string; task: string; agent: string; model: string; round: number; calls: number }
  | { type: "round-start"; round: number; maxRounds: number; tools: string[] }
  | {
      type: "request"
      round: number
      messages: readonly unknown[]
      tools: readonly unknown[]
      delivery: string
      grammar?: string
      /** How much likelier the names of tools were made, in logits, by the tokens of this model. */
      toolBias?: Readonly<Record<string, number>>
      /**
       * How many characters at its front are as in the request before (`of` them), which a server need not read again.
       */
      prefix?: { kept: number; of: number }
      /**
       * How much of the model's window it takes, where that is known: `low` up to a third, `medium` up to two, `full`
       * beyond; and how many messages were left out, or stand in it in fewer words.
       */
      context?: {
        tokens: number
        contextTokens: number
        utilisation: "low" | "medium" | "full"
        leftOut: number
        messages: number
      }
    }
  | { type: "model-retry"; attempt: number; delayMs: number; reason: string; code?: string }
  | { type: "delivery-fallback"; from: string; to: string; reason: string }
  /** The schema of a tool is too much for the grammar of its calls: its arguments are held by validation alone. */
  | { type: "grammar-refused"; tool: string; reason: string }
  | { type: "text-delta"; text: string }
  | { type: "reasoning-delta"; text: string }
  | { type: "call-start"; callId: string; name: string }
  | { type: "args-delta"; callId: string; text: string }
  | { type: "call-end"; callId: string; name: string; arguments: JsonObject; path: string }
  | {
      type: "parse-problem"
      kind: string
      message: string
      text: string
      repaired: boolean
      /** The text was told as text or reasoning too. */
      shown?: true
      /** The tool of a native call, whose name is not part of the text. */
      tool?: string
      /** The native call that could not be read; it is answered with a failure, and nothing runs for it. */
      call?: { index: number; id: string; name: string }
    }
  | {
      type: "reply"
      round: number
      raw: string
      content: string
      /** What of it goes back to the model, where that is not `content`. */
      said?: string
      reasoning: string
      calls: ToolCall[]
      finishReason: string
      /** How likely the call is what was asked for, of a model that measures it. */
      certainty?: number
      /** The model said that it does not do it, or asked what is meant. */
      declined?: true
      modelMs: number
      /** Tokens, where the backend counts them. */
      usage?: { inputTokens: number; outputTokens: number }
      /** What each stretch of `raw` was read as, with the place where it ends; the next begins there. */
      spans?: [kind: string, end: number][]
    }
  /** How the model came to its reply, where that was asked for and the backend can tell. */
  | { type: "reply-tokens"; round: number; trace: TokenTrace; origins: ArgumentOrigin[] }
  | ToolEvent
  | { type: "nudge"; reason: "no-call" | "only-reasoning" | "parse-problem" | "cut-off" | "output"; text: string }
  | { type: "loop-detected"; name: string; times: number; text: string }
  | { type: "completion-refused"; reasons: string[]; text: string }
  /**
   * A phase of the agent begins, the `index`th: a conversation of its own, over after round `maxRounds` at the latest.
   */
  | { type: "phase-start"; phase: string; index: number; of: number; maxRounds: number; tools: string[] }
  /** It is over after so many rounds, with what it handed over to those after it. */
  | {
      type: "phase-end"
      phase: string
      index: number
      of: number
      rounds: number
      artifact?: { name: string; value: unknown }
    }
  | { type: "tools-changed"; added: string[]; removed: string[] }
  | { type: "round-end"; round: number }
  /** What an earlier run or call changed is being taken back: which one, and by whom. It is a record of its own. */
  | { type: "undo-start"; of: string; by: string; paths: string[] }
  | { type: "undo-end"; restored: string[]; refused: { path: string; reason: string }[] }
  /** A suite of tasks begins to be tried. It is a record of its own; `given` is all that its rest needs. */
  | { type: "evaluation-start"; suite: string; tasks: string[]; models: string[]; trials: number; given: unknown }
  | ({ type: "trial-end" } & TrialResult)
  | { type: "evaluation-end"; passed: number; failed: number; reached: boolean }
  | { type: "run-end"; summary: RunSummary; error?: { code: string; message: string; hint?: string } }

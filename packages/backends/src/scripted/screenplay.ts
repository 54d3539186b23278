import type { JsonObject } from "@toolwright/toolbox"
import type { FinishReason, Usage } from "../model/backend.ts"

/**
 * A scripted model as data: what it expects to be sent, and what it replies, step by step. Written in YAML, see
 * `docs/screenplays.md`; its JSON Schema is {@link SCREENPLAY_SCHEMA}.
 */
export interface Screenplay {
  name?: string
  /** The model name that the backend states, from which a format is chosen. */
  model?: string
  abilities?: { nativeTools?: boolean; grammar?: boolean; jsonSchema?: boolean; small?: boolean }
  /** How replies are cut into deltas, unless a reply says otherwise. */
  chunks?: Chunks
  steps: ScreenplayStep[]
}

/** One inference. */
export interface ScreenplayStep {
  name?: string
  /** How many inferences this step answers; `always` answers all that follow. 1 unless given. */
  repeat?: number | "always"
  expect?: Expectation | Expectation[]
  /** Values taken from what was sent, by name; a string is a regular expression on the result. */
  capture?: Record<string, string | Capture>
  /** A string is the text of the reply. */
  reply: string | ScreenplayReply
  /**
   * The request that was answered so when this was recorded, as whoever recorded it keeps it; playing does not look at
   * it.
   */
  sent?: JsonObject
}

/**
 * What must be true of a request. Every key given must hold. `result` is what came back since the model's last reply,
 * `last` the last message, `user` the first user message, `any` all messages together.
 */
export interface Expectation {
  system?: TextCheck
  user?: TextCheck
  last?: TextCheck
  result?: TextCheck
  any?: TextCheck
  /** Whether the last tool result was a success. */
  success?: boolean
  messages?: CountCheck
  /** Tool results since the last reply. */
  results?: CountCheck
  tools?: ToolsCheck
  toolChoice?: "auto" | "none" | "required"
  grammar?: boolean | TextCheck
  jsonSchema?: boolean
}

/**
 * A string is text that must be contained. Regular expressions are JavaScript's, with `m`; in code they may be given as
 * such.
 */
export type TextCheck =
  | string
  | RegExp
  | {
      contains?: string | string[]
      excludes?: string | string[]
      matches?: string | RegExp | (string | RegExp)[]
      equals?: string
      /** Paths into the JSON value in the text, and the values that must stand there. */
      json?: Record<string, unknown>
    }

export type CountCheck = number | { min?: number; max?: number }

/** The tools offered natively, by name. `false`: none may be offered. */
export type ToolsCheck = false | { exactly?: string[]; include?: string[]; exclude?: string[] }

/** Where a value comes from: a regular expression (its first group, or the whole match) or a JSON path. */
export interface Capture {
  from?: "result" | "last" | "user" | "system" | "any"
  matches?: string
  json?: string
  /** What the text of a match becomes; `text` unless given. */
  as?: "text" | "number" | "json"
}

/** A number of characters, `char` for one, or the pieces' lengths (the rest follows whole). */
export type Chunks = number | "char" | number[]

/**
 * What the model does. `reasoning`, `text` and `calls` come in this order; `stream` gives deltas in any order instead.
 */
export interface ScreenplayReply {
  reasoning?: string
  text?: string
  calls?: ScriptedCall[]
  stream?: StreamPart[]
  chunks?: Chunks
  finish?: FinishReason
  usage?: Usage
  /** Fails after whatever was given above. */
  error?: ScriptedFailure
  /** Never ends, until cancelled. */
  hang?: boolean
  /** Milliseconds to wait before the reply. */
  delayMs?: number
  /** Whether `{{name}}` stands for a captured value; true unless given. */
  interpolate?: boolean
}

/**
 * A call: native where tools were offered, else written in the backend's format. `arguments` as text are raw JSON text,
 * for broken ones.
 */
export interface ScriptedCall {
  name: string
  arguments?: JsonObject | string
  id?: string
}

/** A run of deltas of one kind, or a delta of a native call. */
export type StreamPart =
  | { reasoning: string | string[] }
  | { text: string | string[] }
  | { call: number; id?: string; name?: string; arguments?: string }
  | { retry: number; delayMs: number; reason: string }

/** A failure as a server or a network would cause it, or as the error that it becomes. */
export interface ScriptedFailure {
  /** HTTP status. */
  status?: number
  kind?: "unreachable" | "timeout" | "invalid-utf8" | "invalid-json" | "cut-off"
  code?: string
  message?: string
  hint?: string
}

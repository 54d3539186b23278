import { aboutCode } from "./data/error-codes.ts"
import type { NextStep } from "./errors.ts"
import type { JsonObject } from "./schema.ts"

/**
 * Why a tool call did not succeed, in a form from which a model can correct itself and a program can decide.
 *
 * `code` is stable and upper-case (`INVALID_ARGUMENTS`, `TIMEOUT`, `ACCESS_DENIED`, …), `message` says what was wrong
 * in one or a few sentences, `hint` what to do instead (often a correct call), `retryable` whether the same call may
 * succeed later, `details` anything structured (argument paths, nearest matches, limits).
 */
export interface ToolError {
  code: string
  message: string
  hint?: string
  retryable: boolean
  details?: JsonObject
  /** What could be done next; the pipeline makes a call of it and puts that into `hint`. */
  next?: NextStep
}

/** What every result has, however the call went. */
interface AnyResult {
  /** The result as text, for a model. */
  output: string
  /** Paths that the call changed. */
  modifiedFiles: string[]
  /** Anything about the call that is not its result. */
  metadata: JsonObject
  /** Wall time of the call in milliseconds (monotonic clock), above 0 once it was executed. */
  executionTimeMs: number
}

/** The result of a call that did what it was asked: `data` is the same as `output`, for programs. */
export interface ToolSuccess<Data = unknown> extends AnyResult {
  success: true
  data: Data
  error?: undefined
}

/** The result of a call that did not: `error` says why. `data` may still carry a report. */
export interface ToolFailure extends AnyResult {
  success: false
  error: ToolError
  data?: unknown
}

/**
 * What every tool call ends in. Failures are results too: a handler's exception never reaches the caller. `success`
 * tells the two apart, for a person and for the compiler.
 */
export type ToolResult<Data = unknown> = ToolSuccess<Data> | ToolFailure

/** Parts of a successful result; `output` is derived from `data` when only that is given. */
export interface SuccessParts<Data = unknown> {
  output?: string
  data?: Data
  modifiedFiles?: string[]
  metadata?: JsonObject
}

/**
 * Parts of a failure; `retryable` is what the catalogue says of the code, unless it is given. `data` and `output` may
 * still carry a report.
 */
export interface FailureParts extends SuccessParts {
  code: string
  message: string
  hint?: string
  retryable?: boolean
  details?: JsonObject
  next?: NextStep
}

/** Builds a successful result. */
export function success<Data>(parts: SuccessParts<Data> & { data: Data }): ToolSuccess<Data>
export function success(parts?: SuccessParts): ToolSuccess<unknown>
export function success(parts: SuccessParts = {}): ToolSuccess {
  return {
    success: true,
    output: parts.output ?? textOf(parts.data),
    data: parts.data,
    modifiedFiles: parts.modifiedFiles ?? [],
    metadata: parts.metadata ?? {},
    executionTimeMs: 0,
  }
}

/** Builds a failed result. Its `output` is the message and the hint unless a text of its own is given. */
export function failure(parts: FailureParts): ToolFailure {
  const error: ToolError = {
    code: parts.code,
    message: parts.message,
    ...(parts.hint === undefined ? {} : { hint: parts.hint }),
    retryable: parts.retryable ?? aboutCode(parts.code)?.retryable ?? false,
    ...(parts.details === undefined ? {} : { details: parts.details }),
    ...(parts.next === undefined ? {} : { next: parts.next }),
  }
  return {
    success: false,
    output: parts.output ?? describeError(error),
    ...(parts.data === undefined ? {} : { data: parts.data }),
    error,
    modifiedFiles: parts.modifiedFiles ?? [],
    metadata: parts.metadata ?? {},
    executionTimeMs: 0,
  }
}

/** The error as text for a model: message, then hint. */
export function describeError(error: ToolError): string {
  return error.hint === undefined ? error.message : `${error.message}\n${error.hint}`
}

/** A value as text for a model: strings as they are, everything else as indented JSON. */
export function textOf(value: unknown): string {
  if (value === undefined) return ""
  if (typeof value === "string") return value
  try {
    return JSON.stringify(value, null, 2) ?? String(value)
  } catch {
    return String(value)
  }
}

/** Whether a value has the shape of a {@link ToolResult}, so that a handler may return one or plain data. */
export function isToolResult(value: unknown): value is ToolResult {
  if (typeof value !== "object" || value === null) return false
  const candidate = value as Partial<ToolResult>
  return (
    typeof candidate.success === "boolean" &&
    typeof candidate.output === "string" &&
    Array.isArray(candidate.modifiedFiles) &&
    typeof candidate.metadata === "object" &&
    candidate.metadata !== null
  )
}

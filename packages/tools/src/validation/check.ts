import type { ProcessHost } from "@toolwright/host/process"

export const OPERATIONS = ["syntax", "tests", "file-length", "pre-commit"] as const

/** A check that `validation` can make. */
export type Operation = (typeof OPERATIONS)[number]

/** Something that is wrong, where it is known with its place. */
export interface Problem {
  message: string
  file?: string
  line?: number
  test?: string
}

/**
 * What a check found. `skipped` is neither a pass nor a failure: there was nothing to check with, and `summary` says
 * why.
 */
export interface CheckReport {
  name: Operation
  status: "passed" | "failed" | "skipped"
  summary: string
  errors: Problem[]
  /** Files that the check itself changed, as formatters do. */
  changed?: string[]
  duration_ms: number
}

/** What a check works with. `files` are relative to the workspace; empty: all. */
export interface CheckRequest {
  readonly host: ProcessHost
  readonly files: readonly string[]
  readonly signal: AbortSignal
}

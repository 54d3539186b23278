import type { RunOutcome } from "./outcome.ts"

/** Whether something is as it should be; `error` where that could not be told, which counts as neither. */
export type Verdict = "pass" | "fail" | "error"

/** What a grader found of a trial. */
export interface Grade {
  /** The grader, as its suite names it or by what it looks at. */
  grader: string
  verdict: Verdict
  /** From 0 to 1; not there where it could not be told. */
  score?: number
  /** What was found, or why nothing could be. */
  reason: string
  /** How much it counts among others; 1 unless given. */
  weight?: number
  /** The run of the model that judged. */
  run?: string
  /** What it is made of. */
  parts?: Grade[]
}

/** One trial of a task with a model. */
export interface TrialResult {
  task: string
  model: string
  /** From 1. */
  trial: number
  /** The run that it was, whose record is its transcript; not there where none could be begun. */
  run?: string
  /** How that run ended. */
  outcome?: RunOutcome
  verdict: Verdict
  score?: number
  grades: Grade[]
  /** The beginning of the answer. */
  answer: string
  calls: number
  failedCalls: number
  rounds: number
  inputTokens: number
  outputTokens: number
  milliseconds: number
  /** Files that tools said they changed. */
  changed: string[]
  /** Why it could not be done. */
  error?: { code: string; message: string }
  /** Where the files were left, where they were to be kept. */
  folder?: string
}

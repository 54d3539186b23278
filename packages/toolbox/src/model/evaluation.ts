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

/** How a model did with a task, or with all of them. */
export interface EvaluationFigures {
  model: string
  /** Trials that passed or failed. */
  measured: number
  passed: number
  /** Trials of which nothing could be told; they count as neither. */
  errors: number
  /** The chance that at least one of so many trials passes, by their number. */
  passAt: Record<string, number>
  /** The chance that all of so many trials pass, by their number. */
  passAll: Record<string, number>
  /** The mean score of trials that have one. */
  score?: number
  inputTokens: number
  outputTokens: number
  calls: number
  /** The middle one. */
  milliseconds: number
}

export interface TaskFigures extends EvaluationFigures {
  task: string
}

export interface ModelFigures extends EvaluationFigures {
  /** Where the share of trials that pass lies, with a certainty of 95 %, were there more of the same. */
  interval: [low: number, high: number]
  /** Whether as large a share of its trials passed as has to, and all could be measured. */
  reached: boolean
}

/** What an evaluation came to. */
export interface EvaluationReport {
  id: string
  suite: string
  description?: string
  startedAt: string
  /** `open` where trials are left to be made, or to be made again since nothing could be told of them. */
  state: "done" | "running" | "open"
  /** The share of trials that must pass, of every model. */
  threshold: number
  /** Whether every model reached it, and all could be measured. */
  reached: boolean
  planned: number
  /** Trials that are left. */
  open: number
  /** It came in as a file, and the figures are those of the trials that the file tells of. */
  imported?: true
  models: ModelFigures[]
  /** Each task with each model. */
  tasks: TaskFigures[]
  trials: TrialResult[]
}

/** An evaluation on one line. */
export interface EvaluationDigest {
  id: string
  suite: string
  startedAt: string
  state: EvaluationReport["state"]
  /** Whether its threshold was reached, once it has ended. */
  reached?: boolean
  /** What it came to. */
  message?: string
  /** It came in as a file. */
  imported?: true
}

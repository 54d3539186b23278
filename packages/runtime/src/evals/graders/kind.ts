import type { Grade, JsonSchema, RunOutcome, ToolHost } from "@toolwright/toolbox"

/** A call of a trial, with its arguments as they ran. */
export interface TrialCall {
  name: string
  arguments: unknown
  succeeded: boolean
}

/** A trial whose run has ended: what graders look at. */
export interface EndedTrial {
  task: string
  answer: string
  /** The answer as a value, where the task asks for a form. */
  output?: unknown
  outcome: RunOutcome
  /** The calls that ran, in order. */
  calls: readonly TrialCall[]
  /** With those that were refused or denied. */
  attempted: readonly TrialCall[]
  /** The folder that the agent worked in, and programs there. */
  host: Pick<ToolHost, "files" | "runProgram">
  judge(question: string): Promise<Judgement>
}

/** What a model that judges has to say. */
export interface Judgement {
  /** From 0 to 1. */
  score: number
  reason: string
  run: string
}

/** What a grader found. A grader that cannot tell throws: that is neither a pass nor a fail. */
export type Found = Pick<Grade, "verdict" | "reason" | "score" | "run" | "parts">

/** A kind of grader. */
export interface GraderKind<Said> {
  /** What may be said to it. */
  readonly schema: JsonSchema
  /** What it is called where nobody named it. */
  title(said: Said): string
  /** Mistakes that the schema does not see. */
  mistakes?(said: Said): readonly string[]
  grade(said: Said, trial: EndedTrial): Promise<Found>
}

export const passed = (reason: string): Found => ({ verdict: "pass", score: 1, reason })
export const failed = (reason: string): Found => ({ verdict: "fail", score: 0, reason })

/** A text short enough for a line. */
export function excerpt(text: string, most = 200): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`
}

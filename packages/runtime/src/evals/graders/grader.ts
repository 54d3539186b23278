import type { RunOutcome } from "@toolwright/toolbox"
import type { CallPattern } from "./calls.ts"
import type { CommandCheck } from "./command.ts"
import type { FileCheck } from "./file.ts"
import type { Rubric } from "./rubric.ts"
import type { TextCheck } from "./text.ts"

/** What a grader looks at: one of these. */
export type GraderKinds =
  | { answer: TextCheck }
  | { file: FileCheck }
  | { called: string | CallPattern }
  | { notCalled: string | CallPattern }
  | { inOrder: (string | CallPattern)[] }
  | { command: CommandCheck }
  | { outcome: RunOutcome | RunOutcome[] }
  | { rubric: string | Rubric }
  | { all: Grader[] }
  | { any: Grader[] }
  | { not: Grader }
  | { weighted: { of: Grader[]; atLeast: number } }

/** One thing that a trial is judged by. */
export type Grader = GraderKinds & {
  /** What it is called in the results. */
  name?: string
  /** How much it counts in a score; 1 unless given. */
  weight?: number
}

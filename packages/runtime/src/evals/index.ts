/** Suites of tasks, tried with agents and models, and judged by what came of it. */
export type {
  EvaluationDigest,
  EvaluationReport,
  EvaluationFigures,
  Grade,
  ModelFigures,
  TaskFigures,
  TrialResult,
  Verdict,
} from "@toolwright/toolbox"
export { evaluations, withPaths, type EvaluationOptions, type Evaluations, type GoOnOptions } from "./evaluations.ts"
export type { Grader, GraderKinds } from "./graders/grader.ts"
export { suiteFile } from "./read-suite.ts"
export { evaluationReport, listEvaluations, unknownEvaluation } from "./record.ts"
export type { Suite, SuiteModel, SuiteTask } from "./suite.ts"

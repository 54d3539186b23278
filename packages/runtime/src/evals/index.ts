/** Suites of tasks, tried with agents and models, and judged by what came of it. */
export type { EvaluationReport } from "./report.ts"
export { evaluations, withPaths, type EvaluationOptions, type Evaluations, type GoOnOptions } from "./evaluations.ts"
export type { Figures, ModelFigures, TaskFigures } from "./figures.ts"
export type { Grader, GraderKinds } from "./graders/grader.ts"
export { readSuite, suiteFile } from "./read-suite.ts"
export { evaluationReport, listEvaluations, type EvaluationDigest } from "./record.ts"
export type { Suite, SuiteModel, SuiteTask } from "./suite.ts"

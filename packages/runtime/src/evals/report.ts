import type { EvaluationReport, TrialResult } from "@toolwright/toolbox"
import { modelFigures, taskFigures } from "./figures.ts"
import { modelId } from "./read-suite.ts"
import type { GivenEvaluation, PlannedTrial } from "./given.ts"

/** How far an evaluation has come. */
interface Standing extends Pick<EvaluationReport, "id" | "startedAt" | "state"> {
  planned: readonly PlannedTrial[]
  results: readonly TrialResult[]
}

export function report(
  { suite, models }: GivenEvaluation,
  { id, startedAt, state, planned, results }: Standing,
): EvaluationReport {
  const { threshold = 1, description } = suite
  const names = [...new Set(planned.map(({ task }) => task))]
  const of = (model: string, task?: string): TrialResult[] =>
    results.filter((each) => each.model === model && (task === undefined || each.task === task))
  const tasks = names.flatMap((task) => models.map(modelId).map((model) => taskFigures(task, model, of(model, task))))
  const left = (model: string): number => planned.filter((each) => each.model === model).length - of(model).length
  const figures = models.map(modelId).map((model) =>
    modelFigures(
      model,
      tasks.filter((each) => each.model === model),
      { trials: of(model), threshold, open: left(model) },
    ),
  )
  const measured = results.filter(({ verdict }) => verdict !== "error").length
  return {
    id,
    suite: suite.name,
    ...(description === undefined ? {} : { description }),
    startedAt,
    state,
    threshold,
    reached: figures.every((model) => model.reached),
    planned: planned.length,
    open: planned.length - measured,
    models: figures,
    tasks,
    trials: results.toSorted(
      (a, b) => names.indexOf(a.task) - names.indexOf(b.task) || a.trial - b.trial || (a.model < b.model ? -1 : 1),
    ),
  }
}

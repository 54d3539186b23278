import type { EvaluationReport, TrialResult } from "@toolwright/toolbox"
import { modelFigures, taskFigures } from "./figures.ts"
import { modelId } from "./suite.ts"
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
  const place = new Map(names.map((name, at) => [name, at]))
  // Grouped once: looked for anew for each task of each model, many trials hold a service up for minutes.
  const byModel = Map.groupBy(results, ({ model }) => model)
  const byTask = Map.groupBy(results, ({ model, task }) => JSON.stringify([model, task]))
  const of = (model: string, task?: string): TrialResult[] =>
    (task === undefined ? byModel.get(model) : byTask.get(JSON.stringify([model, task]))) ?? []
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
      (a, b) => place.get(a.task)! - place.get(b.task)! || a.trial - b.trial || (a.model < b.model ? -1 : 1),
    ),
  }
}

import { modelId } from "./read-suite.ts"
import type { Suite, SuiteModel } from "./suite.ts"

/** All that the rest of an evaluation needs. */
export interface GivenEvaluation {
  suite: Suite
  /** Where the suite's relative paths start. */
  folder: string
  /** The models that are compared, each with an id. */
  models: SuiteModel[]
  /** In place of the suite's own. */
  trials?: number
  /** Of the suite's tasks only these. */
  only?: string[]
}

/** A trial that is to be made. */
export interface PlannedTrial {
  task: string
  /** What its model is called. */
  model: string
  trial: number
}

/** The trials that an evaluation is made of: models and tasks take turns, so that an early end says something of each. */
export function plannedTrials({ suite, models, trials, only }: GivenEvaluation): PlannedTrial[] {
  const tasks = Object.entries(suite.tasks).filter(([name]) => only === undefined || only.includes(name))
  const timesOf = (own: number | undefined): number => trials ?? own ?? suite.trials ?? 1
  const most = Math.max(0, ...tasks.map(([, task]) => timesOf(task.trials)))
  const planned: PlannedTrial[] = []
  for (let trial = 1; trial <= most; trial++)
    for (const [task, { trials: own }] of tasks)
      if (trial <= timesOf(own)) for (const model of models) planned.push({ task, model: modelId(model), trial })
  return planned
}

export const sameTrial = (a: PlannedTrial, b: PlannedTrial): boolean =>
  a.task === b.task && a.model === b.model && a.trial === b.trial

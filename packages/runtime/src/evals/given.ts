import { ToolwrightError } from "@toolwright/toolbox"
import { modelId, type Suite, type SuiteModel } from "./suite.ts"

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

/** Trials of one evaluation: more would take years, and their plan alone the memory of the machine. */
const MOST_PLANNED = 100_000

/**
 * The trials that an evaluation is made of: models and tasks take turns, so that an early end says something of each.
 *
 * @throws ToolwrightError `INVALID_SUITE` where they are too many
 */
export function plannedTrials({ suite, models, trials, only }: GivenEvaluation): PlannedTrial[] {
  const tasks = Object.entries(suite.tasks).filter(([name]) => only === undefined || only.includes(name))
  const timesOf = (own: number | undefined): number => trials ?? own ?? suite.trials ?? 1
  const many = models.length * tasks.reduce((sum, [, task]) => sum + timesOf(task.trials), 0)
  if (many > MOST_PLANNED)
    throw new ToolwrightError("INVALID_SUITE", `The suite asks for ${many} trials; at most ${MOST_PLANNED} are made.`, {
      hint: "Fewer trials of a task, fewer models, or some of the tasks at a time: see --trials and --task.",
    })
  const most = Math.max(0, ...tasks.map(([, task]) => timesOf(task.trials)))
  const planned: PlannedTrial[] = []
  for (let trial = 1; trial <= most; trial++)
    for (const [task, { trials: own }] of tasks)
      if (trial <= timesOf(own)) for (const model of models) planned.push({ task, model: modelId(model), trial })
  return planned
}

/** One trial among those of an evaluation. */
export const trialKey = ({ task, model, trial }: PlannedTrial): string => JSON.stringify([task, model, trial])

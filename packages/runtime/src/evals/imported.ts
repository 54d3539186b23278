import type { LogEvent } from "@toolwright/store"
import type { Grade, TrialResult } from "@toolwright/toolbox"
import { z } from "zod"
import { trialKey, type GivenEvaluation, type PlannedTrial } from "./given.ts"

/** What of an evaluation that came in as a file makes its figures. */
export interface ImportedEvaluation {
  given: GivenEvaluation
  planned: PlannedTrial[]
  results: TrialResult[]
}

const LONGEST_NAME = 500
const LONGEST_TEXT = 20_000
/** Figures are made of each task with each model. */
const MOST_PAIRS = 20_000
const MOST_MODELS = 200
const MOST_TRIALS = 100_000

/** A run's id is shown as a command to be typed. */
const runId = z.string().regex(/^[\w-]{1,100}$/)
const name = z.string().min(1).max(LONGEST_NAME)
const text = z.string().max(LONGEST_TEXT)
const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER)
const share = z.number().min(0).max(1)
const verdict = z.enum(["pass", "fail", "error"])

const grade = z.object({
  grader: name,
  verdict,
  score: share.optional(),
  reason: text,
  weight: amount.optional(),
  run: runId.optional(),
})

const trialEnd = z.object({
  task: name,
  model: name,
  trial: z.int().min(1).max(MOST_TRIALS),
  run: runId.optional(),
  verdict,
  score: share.optional(),
  grades: z.array(grade).max(200),
  answer: text,
  calls: amount,
  failedCalls: amount,
  rounds: amount,
  inputTokens: amount,
  outputTokens: amount,
  milliseconds: amount,
  changed: z.array(text).max(10_000),
  error: z.object({ code: name, message: text }).optional(),
})

const begin = z.object({
  suite: name,
  tasks: z.array(name).max(MOST_PAIRS),
  models: z.array(name).max(MOST_MODELS),
  trials: z.int().min(0).max(MOST_TRIALS).catch(0),
  given: z.object({ suite: z.object({ threshold: share.optional(), description: text.optional() }) }).optional(),
})

/**
 * Reads an evaluation whose events somebody else wrote: of them only what figures are made of, each in its form, and no
 * setting or place of the machine that it was made on. Nothing where it says of itself less than that.
 */
export function importedEvaluation(events: readonly LogEvent[]): ImportedEvaluation | undefined {
  const started = read(
    begin,
    events.find(({ type }) => type === "evaluation-start"),
  )
  if (started === undefined || started.tasks.length * started.models.length > MOST_PAIRS) return undefined
  const { suite, tasks, models, trials, given } = started
  const results = resultsIn(events, started)
  const { threshold, description } = given?.suite ?? {}
  return {
    given: {
      suite: {
        name: suite,
        tasks: Object.fromEntries(tasks.map((each) => [each, { task: "", graders: [] }])),
        ...(threshold === undefined ? {} : { threshold }),
        ...(description === undefined ? {} : { description }),
      },
      folder: "",
      models: models.map((id) => ({ id, name: id })),
    },
    planned: [...results, ...missing({ tasks, models }, trials - results.length)],
    results,
  }
}

function resultsIn(events: readonly LogEvent[], { tasks, models }: z.infer<typeof begin>): TrialResult[] {
  const [known, asked] = [new Set(tasks), new Set(models)]
  const results = new Map<string, TrialResult>()
  for (const event of events) {
    const result = event.type === "trial-end" ? read(trialEnd, event) : undefined
    if (result === undefined || !known.has(result.task) || !asked.has(result.model)) continue
    if (results.size === MOST_TRIALS) break
    results.set(trialKey(result), { ...result, grades: result.grades as Grade[] } as TrialResult)
  }
  return [...results.values()]
}

/** Trials that were begun and of which nothing is told: which they were is not known, that they are missing counts. */
function missing({ tasks: [task], models: [model] }: Pick<z.infer<typeof begin>, "tasks" | "models">, many: number) {
  if (task === undefined || model === undefined) return []
  return Array.from({ length: Math.max(0, many) }, (_, at) => ({ task, model, trial: MOST_TRIALS + 1 + at }))
}

function read<Shape>(shape: z.ZodType<Shape>, event: LogEvent | undefined): Shape | undefined {
  try {
    return shape.safeParse(JSON.parse(event?.body ?? "null")).data
  } catch {
    return undefined
  }
}

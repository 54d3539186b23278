import { resolve } from "node:path"
import { ToolwrightError, type EvaluationDigest, type EvaluationReport, type TrialResult } from "@toolwright/toolbox"
import { hasModel } from "../assembly/configured.ts"
import { defaultConfiguration, type PartialConfiguration } from "../configuration/load.ts"
import type { Configuration } from "../configuration/settings.ts"
import { DEFAULT_PAIRING } from "../pairing/choose.ts"
import { redactorFor } from "../secrets/redactor.ts"
import { tasksFor } from "../tasks/access.ts"
import type { ToolwrightOptions } from "../toolwright.ts"
import { plannedTrials, trialKey, type GivenEvaluation, type PlannedTrial } from "./given.ts"
import { needsJudge, openJudge, type Judge } from "./judge.ts"
import { readSuite } from "./read-suite.ts"
import { EvaluationRecord, evaluationReport, listEvaluations, readEvaluation, unknownEvaluation } from "./record.ts"
import { evaluationPage } from "./page.ts"
import { asModel, modelId, type Suite, type SuiteModel } from "./suite.ts"
import { transcriptOf, type TranscriptLine } from "./transcript.ts"
import { sweepTrialFolders } from "./trial-folder.ts"
import { makeTrial } from "./trial.ts"

/** Settings of {@link evaluations}. */
export interface EvaluationsOptions {
  /** What trials are made of, but for their folder; where they are recorded, and which model they have, too. */
  settings?: ToolwrightOptions
  /** The same for a model of a suite; its settings stand in place of those of `settings` unless given. */
  settingsFor?: (model: SuiteModel, folder: string) => ToolwrightOptions | Promise<ToolwrightOptions>
}

/** Settings of one evaluation. */
export interface EvaluationOptions extends GoOnOptions {
  /** Where the suite's relative paths start; the current folder unless given. */
  folder?: string
  /** In place of the suite's models. */
  models?: readonly SuiteModel[]
  /** In place of what the suite says. */
  trials?: number
  /** Only these tasks. */
  only?: readonly string[]
}

export interface GoOnOptions {
  /** Trials that are made at once; one unless given. */
  concurrency?: number
  /** Ends it; it can be gone on with. */
  signal?: AbortSignal
  /** Keeps the folders of trials that do not pass. */
  keep?: boolean
  /** Hears that it has begun. */
  onBegin?: (evaluation: { id: string; planned: number; open: number }) => void
  /** Hears of each trial once it is on record. */
  onTrial?: (result: TrialResult) => void
  /** Gets a line for what a person should know. */
  onNote?: (line: string) => void
}

/** Tries suites of tasks with agents and models, and judges what came of it. */
export interface Evaluations extends AsyncDisposable {
  /**
   * @param suite as it stands in a suite's file, or read from one
   * @throws ToolwrightError `INVALID_SUITE`, `NO_MODEL` where the suite needs a judge and there is none
   */
  run(suite: unknown, options?: EvaluationOptions): Promise<EvaluationReport>
  /**
   * Makes the trials that are left, and those again of which nothing could be told.
   *
   * @throws ToolwrightError `UNKNOWN_EVALUATION`, `RUN_ENDED`, `RUN_HELD`
   */
  resume(id: string, options?: GoOnOptions): Promise<EvaluationReport>
  /** Newest first. */
  list(): Promise<EvaluationDigest[]>
  /** By its id, a beginning of it, or `latest`. @throws ToolwrightError `UNKNOWN_EVALUATION` */
  show(id: string): Promise<EvaluationReport>
  /** One as a page in one file, with what was said and done in its trials. @throws as `show` */
  page(id: string): Promise<string>
}

/** Runs whose transcripts a page has at most; the others are in the log. */
const MOST_TRANSCRIPTS = 500

/** After so many in a row of which nothing could be told, no further trial of a model is made. */
const MOST_IN_A_ROW = 5

/**
 * Evaluations under one configuration. Each is a record in the log, and so is the run of every trial.
 *
 * @example
 * await using tried = evaluations({ settings: { model: { baseUrl: "http://localhost:8080/v1", name: "qwen" } } })
 * const graders = [{ answer: { contains: "hello" } }]
 * const { reached, models } = await tried.run({ name: "greet", tasks: { hello: { task: "…", graders } } })
 */
export function evaluations({ settings = {}, settingsFor = merged(settings) }: EvaluationsOptions = {}): Evaluations {
  const { cwd = process.cwd(), env = process.env, tools: _tools, approve: _approve, ...rest } = settings
  const configuration = defaultConfiguration(rest as PartialConfiguration)
  const home = tasksFor(configuration, { cwd, env })
  const redact = redactorFor({ ...configuration, secrets: {} }, env)
  const parts: Parts = { home, redact, settingsFor, cwd }
  return {
    async run(value, options = {}) {
      const suite = await readSuite(value)
      sweepTrialFolders()
      const given = givenFor(suite, configuration, { cwd, ...options })
      await using judge = await judgeFor(given, parts)
      const log = await home.log.open()
      const record = await EvaluationRecord.begin(log, given, { workspace: home.root, redact })
      return tryAll({ ...parts, record, given, judge, done: [] }, options)
    },
    async resume(id, options = {}) {
      const log = await home.log.look()
      if (log === undefined) throw unknownEvaluation(id, [])
      const { row, given, results } = await readEvaluation(log, id)
      if (row.state === "ended")
        throw new ToolwrightError("RUN_ENDED", `The evaluation ${row.id} has ended: nothing of it is left.`, {
          hint: `'toolwright eval show ${row.id}' shows what came of it.`,
        })
      await using judge = await judgeFor(given, parts)
      const record = await EvaluationRecord.goOn(log, row, redact)
      return tryAll({ ...parts, record, given, judge, done: results }, options)
    },
    async list() {
      const log = await home.log.look()
      return log === undefined ? [] : listEvaluations(log)
    },
    async show(id) {
      const log = await home.log.look()
      if (log === undefined) throw unknownEvaluation(id, [])
      return evaluationReport(log, id)
    },
    async page(id) {
      const found = await this.show(id)
      const log = await home.log.open()
      const runs = found.trials.flatMap(({ run }) => (run === undefined ? [] : [run])).slice(0, MOST_TRANSCRIPTS)
      const transcripts = new Map<string, TranscriptLine[]>()
      for (const run of runs) transcripts.set(run, await transcriptOf(log, run))
      return evaluationPage(found, transcripts)
    },
    [Symbol.asyncDispose]: () => home.close(),
  }
}

interface Parts {
  home: ReturnType<typeof tasksFor>
  redact: (text: string) => string
  settingsFor: NonNullable<EvaluationsOptions["settingsFor"]>
  cwd: string
}

function givenFor(
  suite: Suite,
  configuration: Configuration,
  { cwd, folder = ".", models, trials, only }: EvaluationOptions & { cwd: string },
): GivenEvaluation {
  const missing = only?.find((name) => !Object.hasOwn(suite.tasks, name))
  if (missing !== undefined)
    throw new ToolwrightError("INVALID_SUITE", `The suite '${suite.name}' has no task '${missing}'.`, {
      hint: `It has: ${Object.keys(suite.tasks).slice(0, 20).join(", ")}.`,
    })
  const usual = hasModel(configuration) ? (configuration.model.name ?? "configured") : DEFAULT_PAIRING.model
  const compared = models ?? (suite.models ?? [{ id: usual }]).map(asModel)
  return {
    suite,
    folder: resolve(cwd, folder),
    models: compared.map((model) => ({ ...model, id: modelId(model) })),
    ...(trials === undefined ? {} : { trials }),
    ...(only === undefined ? {} : { only: [...only] }),
  }
}

interface Evaluation extends Parts {
  record: EvaluationRecord
  given: GivenEvaluation
  judge: AskedJudge
  done: readonly TrialResult[]
}

interface AskedJudge extends AsyncDisposable {
  ask: Judge["ask"]
  of: { evaluation: string }
}

/** Opened before the first trial: a suite that cannot be judged is not tried. */
async function judgeFor({ suite, folder }: GivenEvaluation, { home, settingsFor }: Parts): Promise<AskedJudge> {
  const of = { evaluation: "" }
  const none = () => Promise.reject(new Error("no model judges here"))
  if (!needsJudge(suite)) return { ask: none, of, [Symbol.asyncDispose]: async () => {} }
  const settings = await settingsFor(asModel(suite.judge ?? {}), folder)
  const judge = await openJudge(settings, { database: home.target, evaluation: () => of.evaluation })
  return { ask: judge.ask, of, [Symbol.asyncDispose]: () => judge[Symbol.asyncDispose]() }
}

async function tryAll(evaluation: Evaluation, options: GoOnOptions): Promise<EvaluationReport> {
  const { record, given, judge, home, done } = evaluation
  const { signal, concurrency = 1, onBegin, onNote } = options
  judge.of.evaluation = record.id
  const planned = plannedTrials(given)
  const measured = new Set(done.filter(({ verdict }) => verdict !== "error").map(trialKey))
  const left = planned.filter((each) => !measured.has(trialKey(each)))
  onBegin?.({ id: record.id, planned: planned.length, open: left.length })
  const stop = new AbortController()
  const signals = [stop.signal, record.lost, ...(signal === undefined ? [] : [signal])]
  const pool = new Pool(evaluation, { ...options, signal: AbortSignal.any(signals) }, left)
  try {
    await Promise.all(Array.from({ length: Math.min(concurrency, left.length) }, () => pool.work()))
  } catch (thrown) {
    stop.abort(thrown)
    await pool.settled()
    if (signal?.aborted !== true) {
      await record.release()
      throw thrown
    }
  }
  for (const [model, why] of pool.givenUp)
    onNote?.(`${model}: ${MOST_IN_A_ROW} trials in a row told nothing (${why}), so the others were left.`)
  const log = await home.log.open()
  const standing = await evaluationReport(log, record.id)
  if (standing.open > 0) await record.release()
  else await record.end(standing.trials, standing.reached)
  return evaluationReport(log, record.id)
}

/** Makes trials, several at once, and puts each on record. */
class Pool {
  /** Models of which no further trial is made, and why. */
  readonly givenUp = new Map<string, string>()
  readonly #evaluation: Evaluation
  readonly #options: GoOnOptions & { signal: AbortSignal }
  readonly #left: PlannedTrial[]
  readonly #untold = new Map<string, number>()
  readonly #under = new Set<Promise<unknown>>()

  constructor(evaluation: Evaluation, options: GoOnOptions & { signal: AbortSignal }, left: readonly PlannedTrial[]) {
    this.#evaluation = evaluation
    this.#options = options
    this.#left = [...left]
  }

  async work(): Promise<void> {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#options.signal.throwIfAborted()
      const made = this.#make(next)
      this.#under.add(made)
      try {
        await made
      } finally {
        this.#under.delete(made)
      }
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#under)
  }

  #next(): PlannedTrial | undefined {
    let next = this.#left.shift()
    while (next !== undefined && this.givenUp.has(next.model)) next = this.#left.shift()
    return next
  }

  async #make(planned: PlannedTrial): Promise<void> {
    const { given, home, record, judge, settingsFor } = this.#evaluation
    const { signal, keep = false, onTrial } = this.#options
    const { suite, folder, models } = given
    const task = suite.tasks[planned.task]!
    const model = models.find((each) => each.id === planned.model)!
    const result = await makeTrial(planned, {
      task,
      agent: task.agent ?? suite.agent ?? "assistant",
      limits: { ...suite.limits, ...task.limits },
      suiteFolder: folder,
      settings: () => settingsFor(model, folder),
      database: home.target,
      evaluation: record.id,
      judge: (question, about) => judge.ask(question, about, signal),
      signal,
      keep,
    })
    await record.add(result)
    this.#count(result)
    onTrial?.(result)
  }

  #count({ model, verdict, error }: TrialResult): void {
    const row = verdict === "error" && error !== undefined ? (this.#untold.get(model) ?? 0) + 1 : 0
    this.#untold.set(model, row)
    if (row >= MOST_IN_A_ROW) this.givenUp.set(model, error!.message)
  }
}

/** The settings of a suite's model in place of the configured ones. */
function merged(settings: ToolwrightOptions): NonNullable<EvaluationsOptions["settingsFor"]> {
  return ({ id: _id, apiKeyEnv, ...model }, folder) => {
    const { apiKey, ...usual } = settings.model ?? {}
    // A key belongs to the server that it was given for.
    const elsewhere = model.baseUrl !== undefined && model.baseUrl !== usual.baseUrl
    const named = apiKeyEnv === undefined ? undefined : (settings.env ?? process.env)[apiKeyEnv]
    const key = named ?? (elsewhere ? undefined : apiKey)
    return {
      ...settings,
      model: {
        ...usual,
        ...(withPaths(model, folder) as ToolwrightOptions["model"]),
        ...(key === undefined ? {} : { apiKey: key }),
      },
    }
  }
}

/** The settings of a suite's model that name files, from the suite's folder. */
export function withPaths(model: Omit<SuiteModel, "id">, folder: string): Omit<SuiteModel, "id"> {
  const { path, screenplay, template, formatFile } = model
  return {
    ...model,
    ...(path === undefined ? {} : { path: resolve(folder, path) }),
    ...(screenplay === undefined ? {} : { screenplay: resolve(folder, screenplay) }),
    ...(formatFile === undefined ? {} : { formatFile: resolve(folder, formatFile) }),
    ...(template === undefined ? {} : { template: resolve(folder, template) }),
  }
}

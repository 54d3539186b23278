import { Encoder, holderHere, isHeld, newRunId } from "@toolwright/agents/record"
import type { LogEvent, RunLog, RunRow, RunWriter } from "@toolwright/store"
import {
  nearest,
  ToolwrightError,
  type EvaluationDigest,
  type EvaluationReport,
  type RunEvent,
  type RunSummary,
  type TrialResult,
} from "@toolwright/toolbox"
import { importedEvaluation } from "./imported.ts"
import { plannedTrials, trialKey, type GivenEvaluation } from "./given.ts"
import { modelId } from "./suite.ts"
import { report } from "./report.ts"

/** Where an evaluation was asked for, as its record says; its trials and judgements are runs that it asked for. */
export const EVALUATION_SURFACE = "eval"
const TITLE = "evaluation "
/** How often it is said that it is under way, in milliseconds. */
const BEAT_MS = 10_000

/** An evaluation as it stands in the log. */
export interface RecordedEvaluation {
  row: RunRow
  given: GivenEvaluation
  /** The last result of each trial. */
  results: TrialResult[]
}

/** Writes an evaluation into the log, as a record of its own. */
export class EvaluationRecord {
  readonly id: string
  readonly #writer: RunWriter
  readonly #encoder: Encoder
  readonly #begun = Date.now()
  readonly #beat: NodeJS.Timeout
  readonly #lost = new AbortController()

  private constructor(writer: RunWriter, redact: (text: string) => string) {
    this.id = writer.run
    this.#writer = writer
    this.#encoder = new Encoder(writer, redact, {})
    this.#beat = setInterval(() => {
      writer.beat(Date.now()).catch((thrown: unknown) => {
        if (ToolwrightError.isInstance(thrown) && thrown.code === "STALE_RUN") this.#lost.abort(thrown)
      })
    }, BEAT_MS)
    this.#beat.unref()
  }

  static async begin(
    log: RunLog,
    given: GivenEvaluation,
    { workspace, redact }: { workspace: string; redact: (text: string) => string },
  ): Promise<EvaluationRecord> {
    const { suite, models } = given
    const writer = await log.begin({
      id: newRunId(),
      agent: "",
      model: "",
      title: `${TITLE}${suite.name}`,
      surface: EVALUATION_SURFACE,
      holder: holderHere(),
      time: Date.now(),
      workspace,
    })
    const record = new EvaluationRecord(writer, redact)
    const planned = plannedTrials(given)
    const tasks = [...new Set(planned.map(({ task }) => task))]
    await record.#append({
      type: "evaluation-start",
      suite: suite.name,
      tasks,
      models: models.map(modelId),
      trials: planned.length,
      given,
    })
    return record
  }

  /** Goes on with one that nobody is at. @throws ToolwrightError `RUN_HELD`, `RUN_ENDED` */
  static async goOn(log: RunLog, row: RunRow, redact: (text: string) => string): Promise<EvaluationRecord> {
    const time = Date.now()
    const deadBefore = isHeld(row, time) ? 0 : Number.MAX_SAFE_INTEGER
    return new EvaluationRecord(await log.claim(row.id, { holder: holderHere(), time, deadBefore }), redact)
  }

  /** Aborted once somebody else has taken it. */
  get lost(): AbortSignal {
    return this.#lost.signal
  }

  /** @throws ToolwrightError `STALE_RUN`, `LOG_UNWRITABLE` */
  add(result: TrialResult): Promise<unknown> {
    return this.#append({ type: "trial-end", ...result })
  }

  async end(results: readonly TrialResult[], reached: boolean): Promise<void> {
    clearInterval(this.#beat)
    const time = Date.now()
    const count = (verdict: TrialResult["verdict"]): number => results.filter((each) => each.verdict === verdict).length
    const [passed, failed] = [count("pass"), count("fail")]
    const summary: RunSummary = {
      runId: this.id,
      outcome: reached ? "completed" : "completed-with-failures",
      success: reached,
      message: `${passed} of ${passed + failed} trials passed`,
      rounds: 0,
      calls: 0,
      failedCalls: 0,
      correctedFailures: 0,
      modifiedFiles: [],
      inputTokens: 0,
      outputTokens: 0,
      times: { totalMs: time - this.#begun, modelMs: 0, toolMs: 0, overheadMs: 0 },
    }
    const events: RunEvent[] = [
      { type: "evaluation-end", passed, failed, reached },
      { type: "run-end", summary },
    ]
    await this.#writer.end(
      events.map((event) => this.#eventOf(event)),
      { outcome: summary.outcome, summary: this.#encoder.text(summary), time },
    )
  }

  /** Leaves it to whoever goes on with it. */
  async release(): Promise<void> {
    clearInterval(this.#beat)
    await this.#writer.release().catch(() => {})
  }

  #append(event: RunEvent): Promise<number> {
    return this.#writer.append([this.#eventOf(event)])
  }

  #eventOf({ type, ...rest }: RunEvent) {
    return { type, body: this.#encoder.text(rest), time: Date.now() }
  }
}

/**
 * Reads an evaluation: by its id, a beginning of it that no other run has, or `latest`.
 *
 * @throws ToolwrightError `UNKNOWN_EVALUATION`, `RUN_UNREADABLE`
 */
export async function readEvaluation(log: RunLog, id: string): Promise<RecordedEvaluation> {
  const row = await evaluationRow(log, id)
  if (isImported(row)) throw fromElsewhere(row.id)
  const results = new Map<string, TrialResult>()
  let given: GivenEvaluation | undefined
  for (const event of await log.events(row.id)) {
    if (event.type === "evaluation-start") given = bodyOf<{ given: GivenEvaluation }>(event).given
    if (event.type !== "trial-end") continue
    const result = bodyOf<TrialResult>(event)
    results.set(trialKey(result), result)
  }
  if (given === undefined)
    throw new ToolwrightError("RUN_UNREADABLE", `Nothing of the evaluation ${row.id} was written.`)
  return { row, given, results: [...results.values()] }
}

async function evaluationRow(log: RunLog, id: string): Promise<RunRow> {
  const row = id === "latest" ? await newest(log) : await found(log, id)
  if (row !== undefined && (row.surface === EVALUATION_SURFACE || isImported(row))) return row
  throw unknownEvaluation(id, await known(log))
}

/** The newest that was tried here; where none was, the newest that came in as a file. */
async function newest(log: RunLog): Promise<RunRow | undefined> {
  const [own] = await log.list({ surface: EVALUATION_SURFACE, limit: 1 })
  return own ?? (await log.list({ surface: "import", limit: 50 })).find(isImported)
}

/** One that came in as a file; a run's title may begin like one's, but a run has an agent. */
function isImported({ surface, title, agent }: RunRow): boolean {
  return surface === "import" && agent === "" && title.startsWith(TITLE)
}

/**
 * An evaluation with its figures; of one that came in as a file those of the trials that the file tells of.
 *
 * @throws ToolwrightError `UNKNOWN_EVALUATION`, `RUN_UNREADABLE`
 */
export async function evaluationReport(log: RunLog, id: string): Promise<EvaluationReport> {
  const found = await evaluationRow(log, id)
  if (isImported(found)) {
    const told = importedEvaluation(await log.events(found.id))
    if (told === undefined)
      throw new ToolwrightError("RUN_UNREADABLE", `The evaluation ${found.id} came in as a file that tells no figures.`)
    const startedAt = new Date(found.started_at).toISOString()
    return { ...report(told.given, { ...told, id: found.id, startedAt, state: "done" }), imported: true }
  }
  const { row, given, results } = await readEvaluation(log, found.id)
  return report(given, {
    id: row.id,
    startedAt: new Date(row.started_at).toISOString(),
    state: row.state === "ended" ? "done" : isHeld(row, Date.now()) ? "running" : "open",
    planned: plannedTrials(given),
    results,
  })
}

/** Newest first, those that came in as a file among them. */
export async function listEvaluations(log: RunLog, limit = 50): Promise<EvaluationDigest[]> {
  const [own, imported] = await Promise.all(
    [EVALUATION_SURFACE, "import"].map((surface) => log.list({ surface, limit })),
  )
  const rows = [...own!, ...imported!.filter(isImported)].toSorted((a, b) => b.started_at - a.started_at)
  return rows.slice(0, limit).map(digestOf)
}

function digestOf(row: RunRow): EvaluationDigest {
  const { message, success } = summaryOf(row)
  return {
    id: row.id,
    suite: row.title.slice(TITLE.length),
    startedAt: new Date(row.started_at).toISOString(),
    state: row.state === "ended" ? "done" : isHeld(row, Date.now()) ? "running" : "open",
    ...(typeof success === "boolean" ? { reached: success } : {}),
    ...(typeof message === "string" ? { message } : {}),
    ...(isImported(row) ? { imported: true } : {}),
  }
}

/** What a file brought may be no summary. */
function summaryOf({ summary }: RunRow): Partial<RunSummary> {
  try {
    return (JSON.parse(summary ?? "{}") ?? {}) as Partial<RunSummary>
  } catch {
    return {}
  }
}

function bodyOf<Body>({ run, seq, body }: LogEvent): Body {
  if (body === undefined)
    throw new ToolwrightError("RUN_UNREADABLE", `Event ${seq} of the evaluation ${run} was erased.`)
  return JSON.parse(body) as Body
}

async function found(log: RunLog, id: string): Promise<RunRow | undefined> {
  return log.find(id).catch((thrown: unknown) => {
    if (ToolwrightError.isInstance(thrown) && thrown.code === "UNKNOWN_RUN") return undefined
    throw thrown
  })
}

async function known(log: RunLog): Promise<string[]> {
  return (await log.list({ surface: EVALUATION_SURFACE, limit: 50 })).map(({ id }) => id)
}

/** It is shown as its file tells it, and nothing of it is made here. */
function fromElsewhere(id: string): ToolwrightError {
  return new ToolwrightError("UNKNOWN_EVALUATION", `The evaluation ${id} came in as a file: it is not gone on with.`, {
    hint: `'toolwright eval show ${id}' shows its figures, and 'eval run' with its suite makes them anew.`,
  })
}

export function unknownEvaluation(id: string, ids: readonly string[]): ToolwrightError {
  const close = nearest(id, ids)
  const there = (close.length > 0 ? close : ids.slice(0, 5)).join(", ")
  return new ToolwrightError(
    "UNKNOWN_EVALUATION",
    id === "latest" ? "No suite was tried here." : `There is no evaluation '${id}'.`,
    { hint: ids.length === 0 ? "'toolwright eval run <suite>' tries one." : `There are: ${there}.` },
  )
}

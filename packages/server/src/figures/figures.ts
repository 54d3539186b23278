import type { Database, SqlValue } from "@toolwright/store"
import type { Figures, FiguresBucket, FiguresRow } from "./shapes.ts"

/** As many runs of the span are counted, the newest first, and of so many of those each call. */
const MOST_RUNS = 50_000
const MOST_WITH_CALLS = 1_000
const AT_ONCE = 200
/** A body beyond this is not read: what is counted of a call stands in small ones. */
const LONGEST_BODY = 65_536

/** The time that is asked about, in milliseconds since 1970, and into how many parts it is cut. */
export interface FiguresSpan {
  from: number
  to: number
  parts: number
}

interface RunFacts {
  id: string
  agent: string
  model: string
  title: string
  outcome: string | null
  state: string
  summary: string | null
  started_at: number
  ended_at: number | null
}

/** Counts runs, calls, tokens and times of a span, over time and by tool, model and format. */
export async function figuresOf(database: Database, span: FiguresSpan): Promise<Figures> {
  const { from, to, parts } = span
  const rows = await database.query<RunFacts>(
    `SELECT id, agent, model, title, outcome, state, summary, started_at, ended_at FROM runs
     WHERE started_at >= ? AND started_at < ? ORDER BY started_at DESC, id DESC LIMIT ?`,
    [from, to, MOST_RUNS + 1],
  )
  const counted = rows.slice(0, MOST_RUNS).filter(({ state }) => state === "ended")
  const step = Math.max(1, Math.ceil((to - from) / parts))
  const over = Array.from({ length: parts }, (_, index) => emptyBucket(from + index * step))
  const times = over.map((): number[] => [])
  const [models, tools, formats] = [new Tally(), new Tally(), new Tally()]
  for (const row of counted) {
    const { bucket, index } = bucketOf(over, { at: Number(row.started_at), from, step })
    const facts = factsOf(row)
    countRun(bucket, facts)
    if (!facts.ofAgent) continue
    times[index]!.push(facts.ms)
    models.add(row.model, facts)
  }
  for (const [index, bucket] of over.entries())
    Object.assign(bucket, { ms50: quantile(times[index]!, 0.5), ms95: quantile(times[index]!, 0.95) })
  const looked = counted.slice(0, MOST_WITH_CALLS)
  for (let at = 0; at < looked.length; at += AT_ONCE)
    await countCalls(database, looked.slice(at, at + AT_ONCE), { tools, formats })
  return {
    from,
    to,
    step,
    over,
    tools: tools.rows(),
    models: models.rows(),
    formats: formats.rows(),
    runs: counted.length,
    more: rows.length > MOST_RUNS,
    looked: looked.length,
  }
}

function emptyBucket(time: number): FiguresBucket {
  return { time, runs: 0, failed: 0, calls: 0, failedCalls: 0, inputTokens: 0, outputTokens: 0, ms50: 0, ms95: 0 }
}

function bucketOf(
  over: FiguresBucket[],
  { at, from, step }: { at: number; from: number; step: number },
): { bucket: FiguresBucket; index: number } {
  const index = Math.max(0, Math.min(over.length - 1, Math.floor((at - from) / step)))
  return { bucket: over[index]!, index }
}

interface Counted {
  ofAgent: boolean
  ok: boolean
  ms: number
  calls: number
  failedCalls: number
  inputTokens: number
  outputTokens: number
}

/** Outcomes that are no failure of the run. */
const WELL = new Set(["completed"])

function factsOf({ agent, outcome, summary, started_at, ended_at }: RunFacts): Counted {
  const read = objectIn(summary)
  const number = (name: string): number => (typeof read[name] === "number" ? (read[name] as number) : 0)
  const total = (read.times as { totalMs?: unknown } | undefined)?.totalMs
  const ofAgent = agent !== ""
  const ok = WELL.has(outcome ?? "")
  return {
    ofAgent,
    ok,
    ms: typeof total === "number" ? total : Number(ended_at ?? started_at) - Number(started_at),
    calls: ofAgent ? number("calls") : 1,
    failedCalls: ofAgent ? number("failedCalls") : Number(!ok),
    inputTokens: number("inputTokens"),
    outputTokens: number("outputTokens"),
  }
}

function countRun(
  bucket: FiguresBucket,
  { ofAgent, ok, calls, failedCalls, inputTokens, outputTokens }: Counted,
): void {
  if (ofAgent) {
    bucket.runs++
    if (!ok) bucket.failed++
  }
  bucket.calls += calls
  bucket.failedCalls += failedCalls
  bucket.inputTokens += inputTokens
  bucket.outputTokens += outputTokens
}

interface CallEvent {
  run: string
  type: string
  body: string | null
}

/** Counts each call of some runs by its tool, and each run by the format that its calls were read in. */
async function countCalls(
  database: Database,
  runs: readonly RunFacts[],
  { tools, formats }: { tools: Tally; formats: Tally },
): Promise<void> {
  const places = runs.map(() => "?").join(", ")
  const ids: SqlValue[] = runs.map(({ id }) => id)
  const events = await database.query<CallEvent>(
    `SELECT run_events.run, run_events.type, COALESCE(run_events.body, bodies.content) AS body
     FROM run_events LEFT JOIN bodies ON bodies.hash = run_events.body_ref
     WHERE run_events.run IN (${places}) AND run_events.type IN ('run-start', 'tool-start', 'tool-end')
       AND LENGTH(COALESCE(run_events.body, bodies.content)) < ${LONGEST_BODY}`,
    ids,
  )
  const byId = new Map(runs.map((run) => [run.id, run]))
  for (const { run, type, body } of events) {
    const { name, format, repairs, result } = objectIn(body)
    if (type === "run-start") {
      if (typeof format === "string") formats.add(format, factsOf(byId.get(run)!))
    } else if (typeof name === "string" && type === "tool-start") tools.repaired(name, lengthOf(repairs))
    else if (typeof name === "string") {
      const { success, executionTimeMs } = (result ?? {}) as { success?: unknown; executionTimeMs?: unknown }
      const ms = typeof executionTimeMs === "number" ? executionTimeMs : 0
      tools.add(name, { ok: success === true, ms, inputTokens: 0, outputTokens: 0 })
    }
  }
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

/** Sums by name. */
class Tally {
  readonly #rows = new Map<string, FiguresRow & { times: number[] }>()

  add(
    name: string,
    { ok, ms, inputTokens, outputTokens }: Pick<Counted, "ok" | "ms" | "inputTokens" | "outputTokens">,
  ): void {
    const row = this.#row(name)
    row.count++
    if (!ok) row.failed++
    row.inputTokens += inputTokens
    row.outputTokens += outputTokens
    row.times.push(ms)
  }

  repaired(name: string, count: number): void {
    if (count > 0) this.#row(name).repaired += count
  }

  #row(name: string): FiguresRow & { times: number[] } {
    const known = this.#rows.get(name)
    if (known !== undefined) return known
    const made = { name, count: 0, failed: 0, repaired: 0, inputTokens: 0, outputTokens: 0, ms50: 0, ms95: 0 }
    const row = { ...made, times: [] }
    this.#rows.set(name, row)
    return row
  }

  /** The most frequent first. */
  rows(): FiguresRow[] {
    return [...this.#rows.values()]
      .map(({ times, ...row }) => ({ ...row, ms50: quantile(times, 0.5), ms95: quantile(times, 0.95) }))
      .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, 100)
  }
}

function quantile(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function objectIn(json: string | null): Record<string, unknown> {
  try {
    const value = JSON.parse(json ?? "{}") as unknown
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

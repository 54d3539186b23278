import type { Database, SqlValue } from "@toolwright/store"
import type { Figures, FiguresBucket } from "./shapes.ts"
import { costOf, objectIn, quantile, Tally, type Prices } from "./tally.ts"

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
  /** How many tools, models and formats are told over time, each the most frequent; none unless given. */
  series?: number
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
export async function figuresOf(database: Database, span: FiguresSpan, prices: Prices = {}): Promise<Figures> {
  const { from, to, parts, series = 0 } = span
  const rows = await database.query<RunFacts>(
    `SELECT id, agent, model, title, outcome, state, summary, started_at, ended_at FROM runs
     WHERE started_at >= ? AND started_at < ? ORDER BY started_at DESC, id DESC LIMIT ?`,
    [from, to, MOST_RUNS + 1],
  )
  const counted = rows.slice(0, MOST_RUNS).filter(({ state }) => state === "ended")
  const step = Math.max(1, Math.ceil((to - from) / parts))
  const over = Array.from({ length: parts }, (_, index) => emptyBucket(from + index * step))
  const times = over.map((): number[] => [])
  const indexOf = (at: number): number => Math.max(0, Math.min(parts - 1, Math.floor((at - from) / step)))
  const [models, tools, formats] = [new Tally(parts, prices), new Tally(parts), new Tally(parts)]
  for (const row of counted) {
    const index = indexOf(Number(row.started_at))
    const facts = factsOf(row)
    countRun(over[index]!, { ...facts, cost: costOf(prices, row.model, facts) })
    if (!facts.ofAgent) continue
    times[index]!.push(facts.ms)
    models.add(row.model, facts, index)
  }
  for (const [index, bucket] of over.entries())
    Object.assign(bucket, { ms50: quantile(times[index]!, 0.5), ms95: quantile(times[index]!, 0.95) })
  const looked = counted.slice(0, MOST_WITH_CALLS)
  for (let at = 0; at < looked.length; at += AT_ONCE)
    await countCalls(database, looked.slice(at, at + AT_ONCE), { tools, formats, indexOf })
  return {
    from,
    to,
    step,
    over,
    tools: tools.rows(series),
    models: models.rows(series),
    formats: formats.rows(series),
    runs: counted.length,
    more: rows.length > MOST_RUNS,
    looked: looked.length,
  }
}

function emptyBucket(time: number): FiguresBucket {
  return { time, runs: 0, failed: 0, calls: 0, failedCalls: 0, inputTokens: 0, outputTokens: 0, ms50: 0, ms95: 0 }
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
  { ofAgent, ok, calls, failedCalls, inputTokens, outputTokens, cost }: Counted & { cost: number | undefined },
): void {
  if (ofAgent) {
    bucket.runs++
    if (!ok) bucket.failed++
  }
  bucket.calls += calls
  bucket.failedCalls += failedCalls
  bucket.inputTokens += inputTokens
  bucket.outputTokens += outputTokens
  if (cost !== undefined) bucket.cost = (bucket.cost ?? 0) + cost
}

interface CallEvent {
  run: string
  type: string
  time: number
  body: string | null
}

/** Counts each call of some runs by its tool, and each run by the format that its calls were read in. */
async function countCalls(
  database: Database,
  runs: readonly RunFacts[],
  { tools, formats, indexOf }: { tools: Tally; formats: Tally; indexOf(at: number): number },
): Promise<void> {
  const places = runs.map(() => "?").join(", ")
  const ids: SqlValue[] = runs.map(({ id }) => id)
  const events = await database.query<CallEvent>(
    `SELECT run_events.run, run_events.type, run_events.time, COALESCE(run_events.body, bodies.content) AS body
     FROM run_events LEFT JOIN bodies ON bodies.hash = run_events.body_ref
     WHERE run_events.run IN (${places}) AND run_events.type IN ('run-start', 'tool-start', 'tool-end')
       AND LENGTH(COALESCE(run_events.body, bodies.content)) < ${LONGEST_BODY}`,
    ids,
  )
  const byId = new Map(runs.map((run) => [run.id, run]))
  for (const { run, type, time, body } of events) {
    const { name, format, repairs, result } = objectIn(body)
    if (type === "run-start") {
      if (typeof format === "string") formats.add(format, factsOf(byId.get(run)!), indexOf(Number(time)))
    } else if (typeof name === "string" && type === "tool-start") tools.repaired(name, lengthOf(repairs))
    else if (typeof name === "string") {
      const { success, executionTimeMs } = (result ?? {}) as { success?: unknown; executionTimeMs?: unknown }
      const ms = typeof executionTimeMs === "number" ? executionTimeMs : 0
      tools.add(name, { ok: success === true, ms, inputTokens: 0, outputTokens: 0 }, indexOf(Number(time)))
    }
  }
}

const lengthOf = (value: unknown): number => (Array.isArray(value) ? value.length : 0)

import type { LogEvent, RunFilter, RunLog, RunRow } from "@toolwright/store"
import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import { numberedFiles } from "./files.ts"
import { isHeld } from "./holder.ts"
import { saidAgain } from "./said-once.ts"

/** What is known of a run without its events. */
export interface RunHead {
  runId: string
  agent: string
  task: string
  model: string
  /** Where it was asked for: `run`, `chat`, `http`, … */
  surface: string
  /** ISO 8601. */
  startedAt: string
  /** As it ended, `waiting` for somebody's answer, under way, or interrupted (its process is gone). */
  status: RunStatus
  /** The run that it branched off, and after which event. */
  parent?: { run: string; seq: number }
  /** The run whose call asked for it. */
  askedBy?: { run: string; call: string }
  /** There once the run has ended. */
  summary?: RunSummary
}

export type RunStatus = RunSummary["outcome"] | "running" | "waiting" | "interrupted"

/** An event as it stands in the log: without deltas, without secrets, and with the number and time of its row. */
export type RecordedEvent = { type: RunEvent["type"]; seq: number; at: string } & Record<string, unknown>

/** A recorded run: its head, its events, and the numbered files that people read it in. */
export interface RecordedRun {
  head: RunHead
  events: RecordedEvent[]
  /**
   * `001-prompt.md`, `002-response.md`, `003-tool-calls.json`, `004-tool-results.json`, and so on, round after round.
   */
  files: { name: string; text: string }[]
}

/** The recorded runs, newest first. */
export async function listRuns(log: RunLog, filter?: RunFilter): Promise<RunHead[]> {
  const now = Date.now()
  return (await log.list(filter)).map((row) => headOf(row, now))
}

/**
 * Reads one run. `latest` names the newest; the beginning of an id is enough where only one run begins so.
 *
 * @throws ToolwrightError `UNKNOWN_RUN`, with the ids that come near
 */
export async function readRun(log: RunLog, runId: string): Promise<RecordedRun> {
  const row = await log.find(runId)
  const rows = await log.events(row.id)
  return {
    head: headOf(row, Date.now()),
    events: rows.map(eventOf),
    files: await numberedFiles(log.database, rows),
  }
}

/** A row of the log as an event. */
export function eventOf({ seq, type, time, body }: LogEvent): RecordedEvent {
  const rest = body === undefined ? { erased: true } : type === "tool-end" ? saidAgain(objectIn(body)) : objectIn(body)
  return { ...rest, type: type as RunEvent["type"], seq, at: new Date(time).toISOString() }
}

export function headOf(row: RunRow, now: number): RunHead {
  const { id, agent, title, model, surface, started_at, parent_run, parent_seq, summary, asked_by, asked_call } = row
  const read = summary === null ? undefined : (objectIn(summary) as unknown as RunSummary)
  const whole = typeof read?.outcome === "string" && typeof read.times?.totalMs === "number" ? read : undefined
  return {
    runId: id,
    agent,
    task: title,
    model,
    surface,
    startedAt: new Date(started_at).toISOString(),
    status: statusOf(row, now),
    ...(asked_by === null ? {} : { askedBy: { run: asked_by, call: asked_call ?? "" } }),
    ...(parent_run === null ? {} : { parent: { run: parent_run, seq: parent_seq! } }),
    ...(whole === undefined ? {} : { summary: whole }),
  }
}

function statusOf(row: RunRow, now: number): RunStatus {
  if (row.state === "ended") return (row.outcome ?? "failed") as RunStatus
  if (row.state === "waiting") return "waiting"
  return isHeld(row, now) ? "running" : "interrupted"
}

function objectIn(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return { damaged: true }
  }
}

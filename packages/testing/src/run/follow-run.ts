import { messageOf, ToolwrightError, type RunEvent } from "@toolwright/toolbox"
import type { Backend } from "@toolwright/backends"
import { isTestModel, type TestModel } from "../model.ts"
import { atPlaceOf, originOf } from "../origin.ts"
import type { RecordedModel } from "../recording/recording.ts"
import { changesBetween, snapshotOf } from "../workspace/snapshot.ts"
import { callsIn, type AgentRun } from "./agent-run.ts"
import { transcriptOf } from "./transcript.ts"

export interface FollowRunOptions {
  /** The model of the run; a strict one is asked at the end whether all went as it was written. */
  backend?: Backend
  /** Another run with the same model follows, so that replies may be left. */
  more?: boolean
  /** The folder whose changes are told. */
  workspace?: { readonly path: string }
  /**
   * Longest time of the run in milliseconds, so that a test does not hang: 10,000 unless given, and any while a model
   * is recorded.
   */
  timeoutMs?: number
}

const DEFAULT_TIMEOUT_MS = 10_000

/**
 * Follows a run that you start yourself to its end.
 *
 * @param events the run; a function is given a signal that ends it when the time is over
 * @throws ToolwrightError `RUN_TIMEOUT`, with what the run was waiting for; what `done()` of a strict model throws;
 *   `RUN_WITHOUT_END`
 * @example
 * const run = await followRun((signal) => toolwright.run("Will it rain in Oslo?", { signal }), { backend: model })
 * assert.equal(run.text, "Take a coat.")
 */
export async function followRun(
  events: AsyncIterable<RunEvent> | ((signal: AbortSignal) => AsyncIterable<RunEvent>),
  options: FollowRunOptions = {},
): Promise<AgentRun> {
  const { backend, more = false, workspace, timeoutMs = isRecording(backend) ? Infinity : DEFAULT_TIMEOUT_MS } = options
  const placed = originOf(followRun)
  const before = workspace === undefined ? undefined : snapshotOf(workspace.path)
  const seen: RunEvent[] = []
  const controller = new AbortController()
  const following = follow(typeof events === "function" ? events(controller.signal) : events, seen)
  await within(timeoutMs, following, () => {
    const error = placed(
      new ToolwrightError(
        "RUN_TIMEOUT",
        `The run did not end within ${timeoutMs} ms; ${waitedFor(seen)}.\n${transcriptOf(seen)}`,
      ),
    )
    controller.abort(error)
    return error
  })
  const run = runOf(
    seen,
    workspace !== undefined && before !== undefined ? changedPaths(before, workspace.path) : undefined,
  )
  if (isTestModel(backend)) {
    backend.judge?.(run.calls)
    checkModel(backend, more, run)
  }
  return run
}

function isRecording(backend: Backend | undefined): boolean {
  return (backend as Partial<RecordedModel> | undefined)?.mode === "record"
}

async function follow(events: AsyncIterable<RunEvent>, seen: RunEvent[]): Promise<void> {
  for await (const event of events) seen.push(event)
}

/**
 * Waits for work, but no longer than this; a run that was told to stop is given a moment to let go of what it holds.
 */
async function within(milliseconds: number, work: Promise<void>, onTimeout: () => Error): Promise<void> {
  let error: Error | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<void>((resolve) => {
    if (!Number.isFinite(milliseconds)) return
    timer = setTimeout(() => {
      error = onTimeout()
      timer = setTimeout(resolve, GRACE_MS)
    }, milliseconds)
  })
  try {
    await Promise.race([work, timeout])
  } finally {
    clearTimeout(timer)
  }
  if (error === undefined) return
  work.catch(() => {})
  throw error
}

const GRACE_MS = 1000

function runOf(events: readonly RunEvent[], changed: string[] | undefined): AgentRun {
  const end = events.at(-1)
  if (end?.type !== "run-end")
    throw new ToolwrightError("RUN_WITHOUT_END", "The run ended without saying how: its last event is not 'run-end'.")
  const { summary, error } = end
  return {
    text: summary.message,
    outcome: summary.outcome,
    success: summary.success,
    calls: callsIn(events),
    changed: changed ?? [...summary.modifiedFiles].sort(),
    ...(error === undefined ? {} : { error }),
    summary,
    events,
    get transcript() {
      return transcriptOf(events)
    },
  }
}

function changedPaths(before: ReturnType<typeof snapshotOf>, path: string): string[] {
  const { created, changed, deleted } = changesBetween(before, snapshotOf(path))
  return [...created, ...changed, ...deleted].sort()
}

function checkModel(model: TestModel, more: boolean, run: AgentRun): void {
  try {
    model.done()
  } catch (thrown) {
    const unplayed = ToolwrightError.isInstance(thrown) && thrown.code.endsWith("_UNPLAYED")
    if (!unplayed) throw thrown
    if (more) return
    throw atPlaceOf(new ToolwrightError(thrown.code, `${messageOf(thrown)}\nThe run:\n${run.transcript}`), thrown)
  }
}

function waitedFor(events: readonly RunEvent[]): string {
  const open = new Map<string, string>()
  let inferences = 0
  let replied = true
  for (const event of events) {
    if (event.type === "tool-start") open.set(event.callId, event.name)
    else if (event.type === "tool-end") open.delete(event.callId)
    else if (event.type === "request") {
      inferences++
      replied = false
    } else if (event.type === "reply") replied = true
  }
  if (open.size > 0) return `it was waiting for the tool ${[...open.values()].join(", ")}`
  if (!replied) return `it was waiting for the model's reply to request ${inferences}`
  return `its last event was '${events.at(-1)?.type ?? "none"}'`
}

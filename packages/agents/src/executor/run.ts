import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import type { FoldedRun } from "../record/fold.ts"
import type { RunRecorder } from "../record/recorder.ts"
import { permissionsToKeep } from "./kept-permissions.ts"
import type { ExecutorOptions, RunRequest } from "./options.ts"
import { restoreRun } from "./restore.ts"
import { Rounds } from "./rounds.ts"
import { failureOf, snapshotOf, startRun, type RunState } from "./run-state.ts"

/** A run that goes on from its log, with what writes on in it. */
export interface ResumedRun {
  folded: FoldedRun
  recorder: RunRecorder
}

/**
 * One run. This is the only generator between the model's events and the consumer's: what stands below it is pulled
 * step by step, so nothing runs ahead of who listens. Leaving it cancels the run: the model's request and the running
 * tools end, and the record says so. A record that cannot be written ends it too: nothing is done that leaves no
 * record.
 */
export async function* run(
  options: ExecutorOptions,
  request: RunRequest,
  resumed?: ResumedRun,
): AsyncGenerator<RunEvent, RunSummary> {
  const { controller, unlink } = linkedTo(request.signal)
  const state = startRun(options, request, controller.signal)
  const recorder = resumed?.recorder ?? newRecorder(options, request, state.runId)
  if (recorder !== undefined) state.gate.record = recorder.noteWork
  recorder?.lost.addEventListener("abort", () => controller.abort(recorder.lost.reason), { once: true })
  const rounds = new Rounds(state, recorder, resumed === undefined ? undefined : restoreRun(state, resumed.folded))
  const record = new RecordOfRun(state, recorder)
  let over = false
  try {
    for (;;) {
      const { events, end } = await rounds.next()
      over = end !== undefined
      try {
        // The record hears of everything before anybody else does.
        if (recorder !== undefined) await record.write(events, end?.event)
      } catch (thrown) {
        over = true
        await rounds.leave()
        const { event, summary } = failureOf(state, thrown)
        yield event
        return summary
      }
      for (const event of events) yield record.shown(event)
      if (end === undefined) continue
      const last = record.shown(end.event)
      yield last
      return last.summary
    }
  } finally {
    unlink()
    controller.abort()
    // Who leaves the loop hears no more; the record does.
    if (!over) {
      const { events, end } = await rounds.abandon()
      await record.write(events, end.event).catch(() => {})
    }
    await rounds.leave()
    await recorder?.close()
  }
}

/** A signal of the run's own, which the caller's aborts too. */
function linkedTo(signal: AbortSignal | undefined): { controller: AbortController; unlink: () => void } {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener("abort", abort, { once: true })
  return { controller, unlink: () => signal?.removeEventListener("abort", abort) }
}

function newRecorder(
  options: ExecutorOptions,
  { systemPrompt, history, files, output }: RunRequest,
  runId: string,
): RunRecorder | undefined {
  const permissions = permissionsToKeep(options)
  return options.recorder?.({
    runId,
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(history === undefined ? {} : { history }),
    ...(files === undefined ? {} : { files }),
    ...(output === undefined ? {} : { output: output.schema }),
    ...(permissions === undefined ? {} : { permissions }),
  })
}

/** Where a run is written down, if it is. */
class RecordOfRun {
  readonly #state: RunState
  readonly #recorder: RunRecorder | undefined

  constructor(state: RunState, recorder: RunRecorder | undefined) {
    this.#state = state
    this.#recorder = recorder
  }

  /** Writes what happened; the end of the run only where it is not to go on later. */
  async write(events: readonly RunEvent[], end: RunEnd | undefined): Promise<void> {
    const { request } = this.#state
    const written = end === undefined || request.leaves?.(end) === true ? events : [...events, end]
    await this.#recorder?.write(written, () => snapshotOf(this.#state))
  }

  /** An event as others hear of it. */
  shown<Event extends RunEvent>(event: Event): Event {
    return this.#recorder?.shown(event) ?? event
  }
}

type RunEnd = Extract<RunEvent, { type: "run-end" }>

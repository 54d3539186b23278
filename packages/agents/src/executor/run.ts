import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import type { FoldedRun } from "../record/fold.ts"
import type { RunRecorder } from "../record/recorder.ts"
import type { ExecutorOptions, RunRequest } from "./options.ts"
import { restoreRun } from "./restore.ts"
import { Rounds } from "./rounds.ts"
import { failureOf, snapshotOf, startRun } from "./run-state.ts"

/** A run that goes on from its log, with what writes on in it. */
export interface ResumedRun {
  folded: FoldedRun
  recorder: RunRecorder
}

/**
 * One run. This is the only generator between the model's events and the consumer's: what stands below it is pulled
 * step by step, so nothing runs ahead of who listens. Leaving it cancels the run: the model's request and the running tools
 * end, and the record says so. A record that cannot be written ends it too: nothing is done that leaves no record.
 */
export async function* run(
  options: ExecutorOptions,
  request: RunRequest,
  resumed?: ResumedRun,
): AsyncGenerator<RunEvent, RunSummary> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(request.signal?.reason)
  if (request.signal?.aborted) abort()
  request.signal?.addEventListener("abort", abort, { once: true })
  const state = startRun(options, request, controller.signal)
  const { systemPrompt, history, files, output } = request
  const recorder =
    resumed?.recorder ??
    options.recorder?.({
      runId: state.runId,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...(history === undefined ? {} : { history }),
      ...(files === undefined ? {} : { files }),
      ...(output === undefined ? {} : { output: output.schema }),
    })
  if (recorder !== undefined) state.gate.record = recorder.noteWork
  recorder?.lost.addEventListener("abort", () => controller.abort(recorder.lost.reason), { once: true })
  const rounds = new Rounds(state, recorder, resumed === undefined ? undefined : restoreRun(state, resumed.folded))
  const snapshot = () => snapshotOf(state)
  let over = false
  try {
    for (;;) {
      const { events, end } = await rounds.next()
      const told = end === undefined ? events : [...events, end.event]
      over = end !== undefined
      try {
        // The record hears of everything before anybody else does; of its end only where it is not to go on later.
        await recorder?.write(end !== undefined && request.leaves?.(end.event) === true ? events : told, snapshot)
      } catch (thrown) {
        over = true
        await rounds.leave()
        const { event, summary } = failureOf(state, thrown)
        yield event
        return summary
      }
      for (const event of told) yield event
      if (end !== undefined) return end.summary
    }
  } finally {
    request.signal?.removeEventListener("abort", abort)
    controller.abort()
    // Who leaves the loop hears no more; the record does.
    if (!over) {
      const { events, end } = await rounds.abandon()
      const told = request.leaves?.(end.event) === true ? events : [...events, end.event]
      await recorder?.write(told, snapshot).catch(() => {})
    }
    await rounds.leave()
    await recorder?.close()
  }
}

import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import type { ExecutorOptions, RunRequest } from "./options.ts"
import { Rounds } from "./rounds.ts"
import { startRun } from "./run-state.ts"

/**
 * One run. This is the only generator between the model's events and the consumer's: what stands below it is pulled
 * step by step, so nothing runs ahead of who listens. Leaving it ends the model's request and the running tools.
 */
export async function* run(options: ExecutorOptions, request: RunRequest): AsyncGenerator<RunEvent, RunSummary> {
  const controller = new AbortController()
  const abort = (): void => controller.abort(request.signal?.reason)
  if (request.signal?.aborted) abort()
  request.signal?.addEventListener("abort", abort, { once: true })
  const state = startRun(options, request, controller.signal)
  const recorder = options.recorder?.(state.runId)
  const rounds = new Rounds(state)
  try {
    for (;;) {
      const { events, end } = await rounds.next()
      for (const event of events) {
        // The record hears of everything before anybody else does.
        recorder?.write(event)
        yield event
      }
      if (end === undefined) continue
      recorder?.write(end.event)
      yield end.event
      return end.summary
    }
  } finally {
    await rounds.leave()
    request.signal?.removeEventListener("abort", abort)
    controller.abort()
  }
}

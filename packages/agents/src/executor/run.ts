import type { RunEvent, RunSummary } from "@toolwright/toolbox"
import type { FoldedRun } from "../record/fold.ts"
import type { RunRecorder } from "../record/recorder.ts"
import { permissionsToKeep } from "./kept-permissions.ts"
import type { ExecutorOptions, RunRequest } from "./options.ts"
import { restoreRun } from "./restore.ts"
import { Rounds, type Step } from "./rounds.ts"
import { failureOf, snapshotOf, startRun, type RunState } from "./run-state.ts"
import { Stepwise, type Steps, type Taken } from "./stepwise.ts"

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
export function run(
  options: ExecutorOptions,
  request: RunRequest,
  resumed?: ResumedRun,
): AsyncGenerator<RunEvent, RunSummary> {
  return new Stepwise(() => new RunSteps(options, request, resumed))
}

type Told = Taken<RunEvent, RunSummary>

/** The steps of a run, each on record before anybody else hears of it. */
class RunSteps implements Steps<RunEvent, RunSummary> {
  readonly #state: RunState
  readonly #recorder: RunRecorder | undefined
  readonly #rounds: Rounds
  readonly #cancelling: ReturnType<typeof linkedTo>
  #over = false

  constructor(options: ExecutorOptions, request: RunRequest, resumed: ResumedRun | undefined) {
    const { controller } = (this.#cancelling = linkedTo(request.signal))
    const state = (this.#state = startRun(options, request, controller.signal))
    const recorder = (this.#recorder = resumed?.recorder ?? newRecorder(options, request, state.runId))
    if (recorder !== undefined) state.gate.record = recorder.noteWork
    recorder?.lost.addEventListener("abort", () => controller.abort(recorder.lost.reason), { once: true })
    this.#rounds = new Rounds(state, recorder, resumed === undefined ? undefined : restoreRun(state, resumed.folded))
  }

  next(): Told | Promise<Told> {
    const step = this.#rounds.next()
    return step instanceof Promise ? step.then((came) => this.#told(came)) : this.#told(step)
  }

  #told(step: Step): Told | Promise<Told> {
    this.#over = step.end !== undefined
    return this.#recorder === undefined ? toldOf(step) : this.#written(step)
  }

  async #written(step: Step): Promise<Told> {
    try {
      await this.#write(step)
      return toldOf(this.#shown(step))
    } catch (thrown) {
      this.#over = true
      await this.#rounds.leave()
      return toldOf({ events: [], end: failureOf(this.#state, thrown) })
    }
  }

  /** What happened as others hear of it. */
  #shown({ events, end }: Step): Step {
    const shown = <Event extends RunEvent>(event: Event): Event => this.#recorder?.shown(event) ?? event
    const last = end === undefined ? undefined : shown(end.event)
    return { events: events.map(shown), ...(last === undefined ? {} : { end: { event: last, summary: last.summary } }) }
  }

  /** Writes what happened; the end of the run only where it is not to go on later. */
  async #write({ events, end }: Step): Promise<void> {
    const { request } = this.#state
    const written = end === undefined || request.leaves?.(end.event) === true ? events : [...events, end.event]
    await this.#recorder?.write(written, () => snapshotOf(this.#state))
  }

  async close(): Promise<void> {
    const { controller, unlink } = this.#cancelling
    unlink()
    controller.abort()
    // Who leaves the loop hears no more; the record does.
    if (!this.#over) await this.#write(await this.#rounds.abandon()).catch(() => {})
    await this.#rounds.leave()
    this.#state.limits.close()
    await this.#recorder?.close()
  }
}

function toldOf({ events, end }: Step): Told {
  return end === undefined ? { events } : { events: [...events, end.event], result: { value: end.summary } }
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

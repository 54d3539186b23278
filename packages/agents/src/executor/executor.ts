import { ToolwrightError, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import type { FoldedRun } from "../record/fold.ts"
import type { RunRecorder } from "../record/recorder.ts"
import { heldTo } from "./kept-permissions.ts"
import type { ExecutorOptions, RunRequest } from "./options.ts"
import { run } from "./run.ts"

/**
 * Runs tasks: infer → parse → execute → feed back, round after round, until the gate is satisfied or a limit is
 * reached. One executor may run several tasks at once; each run has its own state.
 *
 * A run is one async generator of {@link RunEvent}; streaming and waiting for the end are two ways to consume it. It
 * never throws for what goes wrong inside a run (that is its `run-end`). Leaving the loop early cancels the model
 * request and the running tools.
 *
 * @example
 * for await (const event of new DynamicExecutor({ tools, backend }).run({ task: "Fix the failing test" })) {
 *   if (event.type === "text-delta") process.stdout.write(event.text)
 * }
 */
export class DynamicExecutor {
  readonly #options: ExecutorOptions

  constructor(options: ExecutorOptions) {
    this.#options = options
  }

  /** Runs a task to its end. */
  async complete(request: RunRequest): Promise<RunSummary> {
    for await (const event of this.run(request)) if (event.type === "run-end") return event.summary
    throw new ToolwrightError("RUN_WITHOUT_END", "The run ended without saying how.")
  }

  /**
   * Runs a task and tells what happens. The last event is `run-end`; its summary is also the generator's return value.
   */
  run(request: RunRequest): AsyncGenerator<RunEvent, RunSummary> {
    return run(this.#options, request)
  }

  /** Goes on with a run where its log ends; what was done is not done again. The first event is `run-resume`. */
  resume(
    folded: FoldedRun,
    recorder: RunRecorder,
    more: Pick<RunRequest, "signal" | "leaves"> = {},
  ): AsyncGenerator<RunEvent, RunSummary> {
    const { runId, task, agent, given, dryRun, withoutTools } = folded
    const { output, permissions, ...rest } = given
    const request: RunRequest = {
      runId,
      task,
      agent,
      ...rest,
      ...(output === undefined ? {} : { output: { schema: output } }),
      dryRun,
      withoutTools,
      ...more,
    }
    return run(heldTo(this.#options, permissions), request, { folded, recorder })
  }
}

import type { RunOutcome, RunSummary } from "@toolwright/toolbox"
import type { Ledger } from "../gate/ledger.ts"

/** Counts and times of a run, and the summary that they make. */
export class RunState {
  readonly runId: string
  readonly ledger: Ledger
  rounds = 0
  inputTokens = 0
  outputTokens = 0
  modelMs = 0
  toolMs = 0
  /** Set for runs that run no call. */
  dryRun = false
  readonly #started = performance.now()

  constructor(runId: string, ledger: Ledger) {
    this.runId = runId
    this.ledger = ledger
  }

  summary(outcome: RunOutcome, message: string): RunSummary {
    const totalMs = performance.now() - this.#started
    return {
      runId: this.runId,
      outcome,
      success: outcome === "completed",
      message,
      rounds: this.rounds,
      calls: this.ledger.calls,
      failedCalls: this.ledger.failures,
      correctedFailures: this.ledger.corrected,
      modifiedFiles: this.ledger.modifiedFiles,
      inputTokens: this.inputTokens,
      outputTokens: this.outputTokens,
      times: {
        totalMs,
        modelMs: this.modelMs,
        toolMs: this.toolMs,
        overheadMs: Math.max(0, totalMs - this.modelMs - this.toolMs),
      },
      ...(this.dryRun ? { dryRun: true } : {}),
    }
  }
}

import { foldRun, holderHere, type FoldedRun } from "@toolwright/agents"
import type { RunLog } from "@toolwright/store"
import { ToolwrightError, type RunSummary } from "@toolwright/toolbox"

/**
 * Ends a run that nobody holds and nobody will go on with, since its task was cancelled while it waited: for its next
 * try, for a worker, for an answer. One that somebody holds ends by itself.
 */
export async function endCancelledRun(log: RunLog, run: string, reason: string): Promise<void> {
  const time = Date.now()
  try {
    const folded = await foldRun(log.database, await log.events(run))
    const writer = await log.claim(run, { holder: holderHere(), time, deadBefore: 0 })
    const summary = summaryOf(folded, run, reason)
    const end = { type: "run-end", body: JSON.stringify({ summary }), time }
    await writer.end([end], { outcome: summary.outcome, summary: JSON.stringify(summary), time })
    for (const { id, state } of await log.list({ askedBy: run, limit: 1_000 }))
      if (state !== "ended") await endCancelledRun(log, id, reason)
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown) || !SOMEBODY_ELSES.has(thrown.code)) throw thrown
  }
}

const SOMEBODY_ELSES: ReadonlySet<string> = new Set(["RUN_HELD", "RUN_ENDED", "STALE_RUN", "RUN_UNREADABLE"])

function summaryOf({ calls, open, rounds, counters, notes }: FoldedRun, runId: string, message: string): RunSummary {
  const ended = [...calls.flat(), ...(open?.ended.values() ?? [])]
  const { inputTokens = 0, outputTokens = 0, modelMs = 0, toolMs = 0, totalMs = 0 } = counters ?? {}
  return {
    runId,
    outcome: "cancelled",
    success: false,
    message,
    rounds: open?.round ?? rounds,
    calls: ended.length,
    failedCalls: ended.filter(({ result }) => !result.success).length,
    correctedFailures: 0,
    modifiedFiles: [...new Set(ended.flatMap(({ result }) => result.modifiedFiles))],
    ...(notes.length === 0 ? {} : { notes }),
    inputTokens,
    outputTokens,
    times: { totalMs, modelMs, toolMs, overheadMs: Math.max(0, totalMs - modelMs - toolMs) },
  }
}

import type { RunHead } from "@toolwright/runtime"
import { neutralise } from "./neutralise.ts"
import { count, oneLine } from "./short.ts"

/** Runs that are drawn at most. */
const MOST_DRAWN = 500

/**
 * The runs that a run asked for, each with those that it asked for below it, in the order in which they began.
 *
 * @param askedBy finds those of one run, newest first
 */
export async function askedTree(
  askedBy: (run: string) => Promise<readonly RunHead[]>,
  run: string,
  indent = "  ",
): Promise<string[]> {
  const lines: string[] = []
  for (const { runId, agent, status, summary, task } of (await askedBy(run)).toReversed()) {
    const size = summary === undefined ? "" : `, ${count(summary.rounds, "round")}`
    lines.push(`${indent}${runId}  ${neutralise(agent)}  ${neutralise(status)}${size}: ${oneLine(task, 70)}`)
    lines.push(...(await askedTree(askedBy, runId, `${indent}  `)))
    if (lines.length >= MOST_DRAWN) break
  }
  return lines
}

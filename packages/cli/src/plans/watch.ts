import { setTimeout as sleep } from "node:timers/promises"
import type { PlanAccess, PlanView } from "@toolwright/runtime"
import type { Invocation } from "../command.ts"
import { planTree, reasonOf, stepLine } from "./lines.ts"

/** How often a plan is looked at, in milliseconds. */
const EVERY_MS = 300

/**
 * Shows a plan as it goes on, until all of its tasks have ended or the person has seen enough: on a terminal as a tree
 * that is drawn anew, elsewhere as a line for each change.
 */
export async function watchPlan(
  { stdout, isTTY, signal }: Pick<Invocation, "stdout" | "isTTY" | "signal">,
  plans: PlanAccess,
  id: string,
): Promise<PlanView> {
  const shown = new Map<string, string>()
  let drawn = 0
  for (;;) {
    const view = await plans.show(id)
    if (isTTY.stdout) drawn = redraw(stdout, planTree(view, { stdout, isTTY }), drawn)
    else for (const line of changesIn(view, shown)) stdout.write(`${line}\n`)
    if (view.state !== "open" || signal.aborted) return view
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

function redraw(stdout: Invocation["stdout"], lines: readonly string[], drawn: number): number {
  const above = drawn === 0 ? "" : `\u001b[${drawn}A`
  const width = stdout.columns ?? 200
  stdout.write(`${above}${lines.map((line) => `\u001b[2K${line.slice(0, width - 1)}\n`).join("")}\u001b[J`)
  return lines.length
}

function changesIn(view: PlanView, shown: Map<string, string>): string[] {
  return view.steps.flatMap((step) => {
    const why = reasonOf(step, view)
    const line = `${stepLine(step)}${why === undefined ? "" : `: ${why}`}`
    if (shown.get(step.id) === line) return []
    shown.set(step.id, line)
    return [line]
  })
}

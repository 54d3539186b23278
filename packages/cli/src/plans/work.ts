import type { Configuration, PlanAccess, PlanView, Toolwright } from "@toolwright/runtime"
import { EXIT, type Invocation } from "../command.ts"
import { neutralise } from "../render/neutralise.ts"
import { planLine } from "./lines.ts"
import { watchPlan } from "./watch.ts"

/** How long tasks may take to end once the person stops; they are given back after that. */
const DRAIN_MS = 3_000

/** What tasks of a plan are worked on with, in this process. */
export interface PlanWork {
  toolwright: Toolwright
  configuration: Configuration
  concurrency: number
}

/** Works on a plan and shows it, until all of its tasks have ended or it is stopped. */
export async function workOnPlan(
  invocation: Invocation,
  { toolwright, configuration, concurrency }: PlanWork,
  id: string,
): Promise<number> {
  const { startTaskWorker } = await import("@toolwright/runtime")
  const { cwd, env, signal, stdout, stderr } = invocation
  const made = { ...configuration, withBuiltins: true, cwd, env }
  // What becomes of the tasks is shown by the plan.
  const log = (line: string): void => void (line.startsWith(id) || stderr.write(`${neutralise(line)}\n`))
  const worker = await startTaskWorker({ toolwright, made, concurrency, plan: id, log })
  try {
    await watchPlan(invocation, toolwright.plans, id)
  } finally {
    if (signal.aborted && worker.busy.length > 0) stderr.write("Stopping: what is under way is given back.\n")
    await worker.drain(signal.aborted ? DRAIN_MS : undefined)
  }
  const view = await toolwright.plans.show(id)
  stdout.write(`${planLine(view)}\n`)
  for (const line of afterwards(view, configuration)) stdout.write(`${neutralise(line)}\n`)
  if (view.state === "open") return EXIT.interrupted
  return view.state === "done" ? EXIT.success : EXIT.failure
}

const AGAIN = { failed: "failed", cancelled: "was cancelled" }

/** What a person may want to do next. */
export function afterwards({ id, state, steps }: PlanView, { undo }: Configuration): string[] {
  const changed = steps.some(
    ({ result }) => ((result as { modifiedFiles?: unknown[] })?.modifiedFiles ?? []).length > 0,
  )
  return [
    ...(state === "open" ? [`go on with it: toolwright plan resume ${id}`] : []),
    ...(state === "failed" || state === "cancelled"
      ? [`try again what ${AGAIN[state]}: toolwright plan retry ${id}, then toolwright plan resume ${id}`]
      : []),
    `what came of each task: toolwright plan show ${id}`,
    ...(changed && undo.enabled ? [`take it back with: toolwright undo ${id}`] : []),
  ]
}

/** Follows a plan that others work on. */
export async function followPlan(invocation: Invocation, plans: PlanAccess, id: string): Promise<number> {
  const { state } = await watchPlan(invocation, plans, id)
  if (state === "open") return EXIT.interrupted
  return state === "done" ? EXIT.success : EXIT.failure
}

import type { CheckedPlan, PlanDigest, PlanView } from "@toolwright/runtime"
import type { Invocation } from "../command.ts"
import { neutralise } from "../render/neutralise.ts"
import { columnsOf, cut, listed } from "../render/room.ts"
import { count, oneLine } from "../render/short.ts"

type Step = PlanView["steps"][number]

/** `pychess-3fa2c1  open  3 done, 1 running, 2 waiting` */
export function planLine({ id, state, tasks }: PlanDigest): string {
  const counted = Object.entries(tasks).map(([each, number]) => `${number} ${each}`)
  return `${id}  ${state}  ${counted.join(", ")}`
}

/**
 * A plan and below it its tasks, each as far in as the levels that it waits for; why one stands still on a line below.
 */
export function planTree(view: PlanView, world?: Pick<Invocation, "stdout" | "isTTY">): string[] {
  const steps = view.steps.flatMap((step) => stepLines(step, view, world))
  return [planLine(view), ...steps]
}

/** A task on one line. */
export function stepLine({ name, level, state, agent, attempts, input }: Step): string {
  const tries = attempts > 1 ? ` (try ${attempts})` : ""
  const words = typeof input === "object" && input !== null ? (input as { task?: unknown }).task : input
  const place = `${"  ".repeat(level + 1)}${name}`
  return `${place.padEnd(22)}  ${`${state}${tries}`.padEnd(16)}  ${neutralise(agent)}: ${oneLine(String(words), 60)}`
}

function stepLines(step: Step, view: PlanView, world?: Pick<Invocation, "stdout" | "isTTY">): string[] {
  const why = reasonOf(step, view)
  const left = "  ".repeat(step.level + 2)
  if (world?.isTTY.stdout !== true) return [stepLine(step), ...(why === undefined ? [] : [`${left}${why}`])]
  return [cut(stepLine(step), columnsOf(world)), ...(why === undefined ? [] : listed({ left, text: why }, world))]
}

/** Why a task stands as it does, where that is not what one would expect. */
export function reasonOf({ state, reason, after = [] }: Step, { id, steps }: PlanView): string | undefined {
  if (state === "blocked") {
    const undone = steps.filter((step) => after.includes(step.id) && step.state !== "done").map(({ name }) => name)
    return `it waits for ${undone.join(", ")}; 'toolwright plan retry ${id}' tries again`
  }
  return reason === undefined || state === "done" ? undefined : oneLine(reason, 400)
}

/** What a plan would do. */
export function checkedLines({ name, description, agents, levels }: CheckedPlan): string[] {
  return [
    `${name}${description === undefined ? "" : `: ${oneLine(description, 200)}`}`,
    ...agents.map((agent) => `  ${agent.name} owns ${agent.files.map(neutralise).join(", ") || "no files"}`),
    ...levels.map((names, level) => `  ${level + 1}. ${names.join(", ")}`),
    `${count(levels.flat().length, "task")} in ${count(levels.length, "step")}; nothing was started.`,
  ]
}

import { ToolwrightError } from "@toolwright/toolbox/errors"

/** Something that comes after others. */
export interface Step {
  readonly id: string
  readonly after?: readonly string[]
}

/**
 * Steps in an order in which each comes after those that it waits for; otherwise the order that they had.
 *
 * @throws ToolwrightError `TASK_CYCLE`, which names the steps that wait for each other
 */
export function inOrder<Given extends Step>(steps: readonly Given[]): Given[] {
  return visited(steps, (ids) => {
    throw cycle(ids)
  })
}

/** The circles in which steps wait for each other, each as the error that it would be. */
export function cyclesIn(steps: readonly Step[]): { id: string; error: ToolwrightError }[] {
  const found: { id: string; error: ToolwrightError }[] = []
  visited(steps, (ids) => found.push({ id: ids[0]!, error: cycle(ids) }))
  return found
}

function visited<Given extends Step>(steps: readonly Given[], onCycle: (ids: string[]) => void): Given[] {
  const byId = new Map(steps.map((step) => [step.id, step]))
  const ordered: Given[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (step: Given): void => {
    if (done.has(step.id)) return
    const begun = path.indexOf(step.id)
    if (begun >= 0) return onCycle([...path.slice(begun), step.id])
    path.push(step.id)
    for (const id of step.after ?? []) {
      const before = byId.get(id)
      if (before !== undefined) visit(before)
    }
    path.pop()
    done.add(step.id)
    ordered.push(step)
  }
  for (const step of steps) visit(step)
  return ordered
}

function cycle(ids: readonly string[]): ToolwrightError {
  return new ToolwrightError("TASK_CYCLE", `These tasks wait for each other: ${ids.join(" → ")}.`, {
    hint: "Leave one of the dependencies out.",
  })
}

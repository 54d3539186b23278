import type { Configuration } from "@toolwright/runtime"
import { ToolwrightError } from "@toolwright/toolbox"
import type { Invocation } from "../command.ts"

const MOST_TASKS = 1_000

/**
 * The runs of a task, or of all tasks of a plan, those that ended last first: the order in which they are taken back.
 *
 * @returns undefined where the id is of neither
 */
export async function runsOf(
  configuration: Configuration,
  invocation: Pick<Invocation, "cwd" | "env">,
  id: string,
): Promise<string[] | undefined> {
  const { tasksFor } = await import("@toolwright/runtime/tasks")
  const tasks = tasksFor(configuration, invocation)
  try {
    const queue = await tasks.look()
    const planned = (await queue?.list({ plan: id, limit: MOST_TASKS })) ?? []
    const rows = planned.length > 0 ? planned : [await queue?.get(id)].filter((row) => row !== undefined)
    if (rows.length === 0) return undefined
    const log = await tasks.log.open()
    const all = await Promise.all(rows.map((row) => log.list({ task: row.id, limit: MOST_TASKS })))
    return all
      .flat()
      .toSorted((a, b) => b.started_at - a.started_at)
      .map((run) => run.id)
  } finally {
    await tasks.close()
  }
}

/** Whether a run changed nothing that could be taken back. */
export function changedNothing(thrown: unknown): boolean {
  return ToolwrightError.isInstance(thrown) && ["UNKNOWN_CHANGE", "NOTHING_TO_UNDO"].includes(thrown.code)
}

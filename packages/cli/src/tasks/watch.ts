import { setTimeout as sleep } from "node:timers/promises"
import type { TaskAccess } from "@toolwright/runtime/tasks"
import { ENDED_STATES, type TaskFilter, type TaskQueue, type TaskRow } from "@toolwright/store"
import { EXIT, type Invocation } from "../command.ts"
import { summaryLine, taskTree } from "./lines.ts"

/** How often the tasks are looked at, in milliseconds. */
const EVERY_MS = 300
/** Of one task and those below it. */
const MOST_WATCHED = 1_000

/**
 * Shows tasks as they go on, until all of them have ended: on a terminal as a tree that is drawn anew, elsewhere as a
 * line for each change.
 *
 * @returns the exit code: 1 where one of them was not done
 */
export async function watchTasks(
  { stdout, isTTY, signal }: Invocation,
  access: TaskAccess,
  which: { root: string } | { filter: TaskFilter },
): Promise<number> {
  const queue = await access.open()
  const shown = new Map<string, string>()
  let drawn = 0
  for (;;) {
    const found = "root" in which ? await familyOf(queue, which.root) : await queue.list(which.filter)
    const rows = found.map((row) => access.shown(row))
    const tree = taskTree(rows, { stdout, isTTY })
    if (isTTY.stdout) {
      stdout.write(
        `${drawn === 0 ? "" : `\u001b[${drawn}A`}${tree.map((line) => `\u001b[2K${line}\n`).join("")}\u001b[J`,
      )
      drawn = tree.length
    } else {
      for (const row of rows.toReversed()) {
        const line = summaryLine(row)
        if (shown.get(row.id) !== line) stdout.write(`${line}\n`)
        shown.set(row.id, line)
      }
    }
    if (rows.every(({ state }) => ENDED_STATES.includes(state))) return endOf(rows)
    await sleep(EVERY_MS, undefined, { signal }).catch(() => {})
    if (signal.aborted) return EXIT.interrupted
  }
}

function endOf(rows: readonly TaskRow[]): number {
  return rows.every(({ state }) => state === "done") ? EXIT.success : EXIT.failure
}

/** A task and those that it asked for, newest first. */
async function familyOf(queue: TaskQueue, root: string): Promise<TaskRow[]> {
  const family = [await queue.find(root)]
  for (let at = 0; at < family.length && family.length < MOST_WATCHED; at++) {
    family.push(...(await queue.list({ parent: family[at]!.id, limit: MOST_WATCHED })))
  }
  return family
}

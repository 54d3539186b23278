import type { SqlDialect, Execute } from "../database/driver.ts"
import * as sql from "./statements.ts"

/** Queues the tasks that waited for nothing but this one. */
export async function releaseDependants(execute: Execute, dialect: SqlDialect, id: string, now: number): Promise<void> {
  const { rows } = await execute(sql.lockDependants(dialect), [id])
  if (rows.length > 0) await execute(sql.RELEASE_DEPENDANTS, [now, id])
}

/** Blocks the tasks that wait for one which will not be done, and those that wait for them. */
export async function blockDependants(execute: Execute, id: string, reason: string, now: number): Promise<void> {
  const { rows } = await execute<{ id: string }>(sql.BLOCK_DEPENDANTS, [reason, now, now, id])
  for (const dependant of rows) await blockDependants(execute, dependant.id, reason, now)
}

/** Lets tasks wait again that were blocked by one which is now tried once more. */
export async function unblockDependants(execute: Execute, id: string, now: number): Promise<void> {
  const { rows } = await execute<{ id: string }>(sql.UNBLOCK_DEPENDANTS, [now, id])
  for (const dependant of rows) await unblockDependants(execute, dependant.id, now)
}

/** Cancels what a task asked for, level after level. */
export async function cancelChildren(
  execute: Execute,
  parent: string,
  now: number,
  cancelled: (child: string) => Promise<void>,
): Promise<void> {
  const { rows } = await execute<{ id: string }>("SELECT id FROM tasks WHERE parent = ?", [parent])
  for (const { id } of rows) {
    const { changed } = await execute(sql.CANCEL_TASK, [`${parent} was cancelled`, now, now, id])
    if (changed === 1) await cancelled(id)
    await cancelChildren(execute, id, now, cancelled)
  }
}

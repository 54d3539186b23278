import type { Database } from "../database/database.ts"
import { TASK_COLUMNS } from "./statements.ts"
import type { TaskFilter, TaskRow } from "./task.ts"

/** One page of tasks, newest first. */
export function listTasks(database: Database, filter: TaskFilter): Promise<TaskRow[]> {
  const { limit = 50, offset = 0, ...wanted } = filter
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined)
  const where = given.length === 0 ? "" : `WHERE ${given.map(([column]) => `${column} = ?`).join(" AND ")}`
  return database.query<TaskRow>(
    `SELECT ${TASK_COLUMNS} FROM tasks ${where} ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
    [...given.map(([, value]) => value!), limit, offset],
  )
}

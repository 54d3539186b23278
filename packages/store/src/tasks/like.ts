import type { Database } from "../database/database.ts"
import { TASK_COLUMNS } from "./statements.ts"
import type { TaskRow } from "./task.ts"

/**
 * Up to two tasks whose ids begin so. Of a plan's task the plan's name is enough too: its id is the name and a few
 * letters.
 */
export async function tasksLike(database: Database, id: string): Promise<TaskRow[]> {
  const like = (pattern: string) =>
    database.query<TaskRow>(`SELECT ${TASK_COLUMNS} FROM tasks WHERE id LIKE ? ESCAPE '\\' LIMIT 2`, [pattern])
  const literal = id.replaceAll(/[\\%_]/g, String.raw`\$&`)
  const rows = await like(`${literal}%`)
  return rows.length === 0 && /^[^.]+\.[^.]+$/.test(id) ? like(literal.replace(".", "-%.")) : rows
}

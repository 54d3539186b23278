import type { Database } from "./database.ts"

/** Our tables, in an order in which each row's references stand before it. */
const TABLES = {
  tasks: "created_at, id",
  task_dependencies: "task, depends_on",
  runs: "started_at, id",
  bodies: "hash",
  run_events: "run, seq",
  effects: "run, call_index",
  approvals: "created_at, id",
  agents: "id",
  owned_files: "workspace, path",
  conversations: "created_at, id",
  conversation_messages: "conversation_id, position",
} as const

const PAGE = 500

/** How many rows each table has. */
export async function countRows(database: Database): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const table of Object.keys(TABLES)) {
    const [row] = await database.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)
    counts[table] = row!.count
  }
  return counts
}

/** Every row, with the name of its table; a page at a time. */
export async function* exportRows(database: Database): AsyncGenerator<{ table: string; row: Record<string, unknown> }> {
  for (const [table, order] of Object.entries(TABLES)) {
    for (let offset = 0; ; offset += PAGE) {
      const rows = await database.query<Record<string, unknown>>(
        `SELECT * FROM ${table} ORDER BY ${order} LIMIT ? OFFSET ?`,
        [PAGE, offset],
      )
      for (const row of rows) yield { table, row }
      if (rows.length < PAGE) break
    }
  }
}

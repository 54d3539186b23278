import { RUN_COLUMNS, type Database, type RunRow, type SqlValue } from "@toolwright/store"

/** Which runs are asked for. */
export interface RunQuery {
  limit: number
  /** Only those before this one, as `started~id`. */
  before?: string | undefined
  agent?: string | undefined
  surface?: string | undefined
  task?: string | undefined
  /** Only single calls of this tool. */
  tool?: string | undefined
  /** Whether single calls are among them. */
  calls?: boolean | undefined
  /** Only those that are under way or wait, or have failed. */
  only?: "open" | "failed" | undefined
  /** In the title or id. */
  text?: string | undefined
  /** Only those that calls of this run asked for; without a value those that no run asked for. */
  askedBy?: string | undefined
  /** Only what the holder of a narrow token has called. */
  caller?: string | undefined
}

/** Outcomes that are no failure. */
const WELL = "'completed'"

/** The runs that match, newest first, one more than asked for where there are more. */
export function findRuns(database: Database, query: RunQuery): Promise<RunRow[]> {
  const conditions: string[] = []
  const values: SqlValue[] = []
  const add = (condition: string, ...given: SqlValue[]): void => {
    conditions.push(condition)
    values.push(...given)
  }
  const { askedBy, before, agent, surface, task, tool, calls, only, text, caller, limit } = query
  for (const [column, value] of Object.entries({ agent, surface, task, caller }))
    if (value !== undefined) add(`${column} = ?`, value)
  if (tool !== undefined) add("agent = '' AND title = ?", tool)
  if (askedBy !== undefined) add("asked_by = ?", askedBy)
  else if (task === undefined) add("asked_by IS NULL")
  if (calls === false) add("agent <> ''")
  if (only === "open") add("state <> 'ended'")
  if (only === "failed") add(`state = 'ended' AND outcome <> ${WELL}`)
  if (text !== undefined) {
    const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    add(String.raw`(LOWER(title) LIKE ? ESCAPE '\' OR id LIKE ? ESCAPE '\')`, pattern, pattern)
  }
  const [, started, id] = /^(\d{1,15})~([\w-]{1,100})$/.exec(before ?? "") ?? []
  // As one value, for which databases go to the place in their index.
  if (started !== undefined) add("(started_at, id) < (?, ?)", Number(started), id!)
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
  return database.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs ${where} ORDER BY started_at DESC, id DESC LIMIT ?`, [
    ...values,
    limit + 1,
  ])
}

/** How many runs each of these asked for; those that asked for none are not there. */
export async function countAsked(database: Database, runs: readonly string[]): Promise<Map<string, number>> {
  if (runs.length === 0) return new Map()
  const rows = await database.query<{ run: string; asked: number }>(
    `SELECT asked_by AS run, COUNT(*) AS asked FROM runs WHERE asked_by IN (${runs.map(() => "?").join(", ")}) ` +
      "GROUP BY asked_by",
    [...runs],
  )
  return new Map(rows.map(({ run, asked }) => [run, Number(asked)]))
}

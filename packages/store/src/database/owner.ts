import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "./database.ts"
import type { Execute } from "./driver.ts"

/** Marks the id of a database with what only its owner knows. */
export type OwnerMark = (id: string) => string

/** Tables of which an empty database has no row. */
const FILLED = ["runs", "tasks", "approvals", "agents", "conversations", "bodies"]

/**
 * Whether a database is its user's own: it bears their mark, or nothing stands in it yet and it is marked now. What
 * came with a folder bears none, or another's: what it says of runs and approvals counts for nothing.
 */
export async function isOwn(database: Database, mark: OwnerMark): Promise<boolean> {
  const [known] = await database.query<Owner>(READ_OWNER)
  if (known !== undefined) return known.mark === mark(known.id)
  return database.transaction(async (execute) => {
    const { rows } = await execute<Owner>(READ_OWNER)
    if (rows[0] !== undefined) return rows[0].mark === mark(rows[0].id)
    if (!(await isBlank(execute))) return false
    await write(execute, mark)
    return true
  })
}

/**
 * Makes a database that came from elsewhere the user's own, as it is.
 *
 * @throws ToolwrightError `FOREIGN_DATABASE` where it would do something by itself
 */
export async function adopt(database: Database, mark: OwnerMark): Promise<void> {
  await database.transaction(async (execute) => {
    if (await actsByItself(execute))
      throw new ToolwrightError("FOREIGN_DATABASE", `The database ${database.name} holds views or triggers.`, {
        hint: "Toolwright makes none. Remove the file.",
      })
    await execute("DELETE FROM database_owner")
    await write(execute, mark)
  })
}

interface Owner {
  id: string
  mark: string
}

const READ_OWNER = "SELECT id, mark FROM database_owner LIMIT 1"

async function write(execute: Execute, mark: OwnerMark): Promise<void> {
  const id = crypto.randomUUID()
  await execute("INSERT INTO database_owner (id, mark) VALUES (?, ?)", [id, mark(id)])
}

async function isBlank(execute: Execute): Promise<boolean> {
  for (const table of FILLED) {
    const { rows } = await execute(`SELECT 1 AS there FROM ${table} LIMIT 1`)
    if (rows.length > 0) return false
  }
  return !(await actsByItself(execute))
}

async function actsByItself(execute: Execute): Promise<boolean> {
  const { rows } = await execute("SELECT 1 AS there FROM sqlite_master WHERE type IN ('trigger', 'view') LIMIT 1")
  return rows.length > 0
}

import { basename, dirname, join } from "node:path"
import { assertStateFile, makeStateFolder } from "@toolwright/host/state-files"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import { databaseOver, unavailable, withoutPassword, type Database } from "./database.ts"
import { migrate } from "./migrate.ts"
import { adopt, isOwn, type OwnerMark } from "./owner.ts"

/** How {@link openDatabase} opens. */
export interface OpenOptions {
  /** Whether its tables are brought to those of this version; they are unless this is false. */
  migrate?: boolean
}

/** How {@link openStateDatabase} opens. */
export interface StateOptions extends OpenOptions {
  /** The user's mark: a database without it, that is not empty, is refused. */
  owner?: OwnerMark
  /** Whether a database that is not the user's is made theirs. */
  adopt?: boolean
}

export function isPostgres(target: string): boolean {
  return /^postgres(ql)?:\/\//.test(target)
}

/**
 * Opens a database, and makes our tables in it where they are missing: a `postgres://` address, or a path of an SQLite
 * file (`:memory:` for none).
 *
 * @throws ToolwrightError `DATABASE_UNAVAILABLE`; an address in its message has no password. What `migrate` throws
 */
export async function openDatabase(target: string, options: OpenOptions = {}): Promise<Database> {
  let database: Database
  try {
    const driver = isPostgres(target)
      ? await import("./postgres.ts").then(({ postgresDriver }) => postgresDriver(target))
      : await import("./sqlite.ts").then(({ sqliteDriver }) => sqliteDriver(target))
    database = databaseOver(driver, withoutPassword(target))
  } catch (cause) {
    throw unavailable(target, cause)
  }
  if (options.migrate === false) return database
  try {
    await migrate(database)
    return database
  } catch (thrown) {
    await database.close()
    throw ToolwrightError.isInstance(thrown) ? thrown : unavailable(target, thrown)
  }
}

/** The name of the database in a folder of state. */
export const STATE_DATABASE = "state.sqlite"

/**
 * Opens the SQLite database of a folder of state, which may have come from elsewhere: a link, a pipe or anything but a
 * plain file in the place of the database, or of a file that goes with it, is refused.
 *
 * @param folder is created, with those above it
 * @throws ToolwrightError `UNSAFE_FILE`, `UNSAFE_FOLDER`, `FOREIGN_DATABASE`, and what {@link openDatabase} throws
 */
export async function openStateDatabase(folder: string, options: StateOptions = {}): Promise<Database> {
  const { mkdirSync } = await import("node:fs")
  try {
    mkdirSync(dirname(folder), { recursive: true })
    makeStateFolder(dirname(folder), basename(folder))
  } catch (cause) {
    throw ToolwrightError.isInstance(cause) ? cause : unavailable(folder, cause)
  }
  const file = join(folder, STATE_DATABASE)
  for (const ending of ["", "-wal", "-shm", "-journal"]) assertStateFile(file + ending)
  const database = await openDatabase(file, options)
  const { owner } = options
  if (owner === undefined) return database
  try {
    if (options.adopt === true) await adopt(database, owner)
    else if (!(await isOwn(database, owner)))
      throw new ToolwrightError("FOREIGN_DATABASE", `The database ${file} was not written by you here.`, {
        hint: "It came with the folder, or the folder was moved. 'toolwright db adopt' makes it yours; or remove it.",
      })
    return database
  } catch (thrown) {
    await database.close()
    throw thrown
  }
}

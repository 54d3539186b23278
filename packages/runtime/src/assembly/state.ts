import { lstatSync } from "node:fs"
import { basename, dirname } from "node:path"
import { isPostgres, openDatabase, openStateDatabase, STATE_DATABASE, type Database } from "@toolwright/store/state"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import { createStateFolder } from "../workspace/state-folder.ts"
import type { Place } from "./place.ts"

/** What of a place the log needs. */
export type StatePlace = Pick<Place, "stateDatabase" | "outside" | "owner" | "log">

/** Whether there is something to be opened: of a server that is known only then. */
export function isThere(target: string): boolean {
  return isPostgres(target) || lstatSync(target, { throwIfNoEntry: false }) !== undefined
}

/**
 * Opens the database of runs and tasks.
 *
 * @param configured a `postgres://` address or a file in place of the one in the folder of state
 */
export async function openState(configured: string | undefined, place: StatePlace): Promise<Database> {
  if (configured !== undefined) {
    // It was named by the user: a project's configuration is asked about first.
    return isPostgres(configured) || basename(configured) !== STATE_DATABASE
      ? openDatabase(configured)
      : openStateDatabase(dirname(configured))
  }
  const folder = dirname(place.stateDatabase)
  createStateFolder(folder)
  try {
    return await openStateDatabase(folder, { owner: place.owner })
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown)) throw thrown
    if (thrown.code === "DATABASE_UNAVAILABLE") throw withAdvice(thrown, folder)
    if (thrown.code !== "FOREIGN_DATABASE") throw thrown
    const { outside } = place
    if (outside === folder) throw thrown
    place.log(`${thrown.message} Runs are recorded in ${outside} instead. ${thrown.hint}`)
    createStateFolder(outside)
    return openStateDatabase(outside, { owner: place.owner })
  }
}

/** Nobody named this folder: what can be done about it is said. */
function withAdvice({ code, message, cause }: ToolwrightError, folder: string): ToolwrightError {
  const hint =
    `Make ${dirname(folder)} a folder that you can write, or name another place: for all state with XDG_STATE_HOME, ` +
    "for this record with --database FILE (runs.database). --no-record (record: false) leaves none."
  return new ToolwrightError(code, message, { cause, hint })
}

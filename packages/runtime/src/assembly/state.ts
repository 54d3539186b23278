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
    if (!ToolwrightError.isInstance(thrown) || thrown.code !== "FOREIGN_DATABASE") throw thrown
    const { outside } = place
    if (outside === folder) throw thrown
    place.log(`${thrown.message} Runs are recorded in ${outside} instead. ${thrown.hint}`)
    createStateFolder(outside)
    return openStateDatabase(outside, { owner: place.owner })
  }
}

import { lstatSync } from "node:fs"
import { basename, dirname } from "node:path"
import {
  isPostgres,
  openDatabase,
  openStateDatabase,
  runLog,
  STATE_DATABASE,
  type Database,
  type RunLog,
} from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import { createStateFolder } from "../workspace/state-folder.ts"
import type { Place } from "./place.ts"

/** What of a place the log needs. */
export type StatePlace = Pick<Place, "stateDatabase" | "outside" | "owner" | "log">

/** The log that a configuration names, opened at the first use and shared from then on. */
export interface LogAccess {
  /** An SQLite file, or the address of a server. */
  readonly target: string
  /** @throws ToolwrightError what `openDatabase` throws */
  open(): Promise<RunLog>
  /** As `open`, but nothing is made by looking: undefined where there is none yet. */
  look(): Promise<RunLog | undefined>
  /** Makes the database of a folder that came from elsewhere, or was moved, the user's own. */
  adopt(): Promise<void>
  close(): Promise<void>
}

/** @param configured a `postgres://` address or a file in place of the one in the folder of state */
export function logAccess(configured: string | undefined, place: StatePlace): LogAccess {
  const target = configured ?? place.stateDatabase
  let opened: Promise<RunLog> | undefined
  const open = (): Promise<RunLog> =>
    (opened ??= openAt(configured, place).then(runLog)).catch((thrown: unknown) => {
      opened = undefined
      throw thrown
    })
  return {
    target,
    open,
    async look() {
      const there = isPostgres(target) || lstatSync(target, { throwIfNoEntry: false }) !== undefined
      return there ? open() : undefined
    },
    async adopt() {
      if (configured !== undefined) return
      const { stateDatabase, owner } = place
      await using _adopted = await openStateDatabase(dirname(stateDatabase), { owner, adopt: true })
    },
    async close() {
      const log = await opened?.catch(() => undefined)
      opened = undefined
      await log?.database.close()
    },
  }
}

async function openAt(configured: string | undefined, place: StatePlace): Promise<Database> {
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

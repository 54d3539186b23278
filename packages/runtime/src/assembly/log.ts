import { dirname, resolve } from "node:path"
import { isPostgres, openStateDatabase, runLog, type RunLog } from "@toolwright/store"
import type { Configuration } from "../configuration/settings.ts"
import { isThere, openState, type StatePlace } from "./state.ts"

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

/** The database that a configuration names in place of the workspace's own. */
export function databaseOf({ runs: { database } }: Pick<Configuration, "runs">, cwd: string): string | undefined {
  return database === undefined || isPostgres(database) ? database : resolve(cwd, database)
}

/** @param configured a `postgres://` address or a file in place of the one in the folder of state */
export function logAccess(configured: string | undefined, place: StatePlace): LogAccess {
  const target = configured ?? place.stateDatabase
  let opened: Promise<RunLog> | undefined
  const open = (): Promise<RunLog> =>
    (opened ??= openState(configured, place).then(runLog, (thrown: unknown) => {
      opened = undefined
      throw thrown
    }))
  return {
    target,
    open,
    async look() {
      return isThere(target) ? open() : undefined
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

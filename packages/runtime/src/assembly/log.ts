import { lstatSync } from "node:fs"
import { basename, dirname } from "node:path"
import { isPostgres, openDatabase, openStateDatabase, runLog, STATE_DATABASE, type RunLog } from "@toolwright/store"
import { createStateFolder } from "../workspace/state-folder.ts"

/** The log that a configuration names, opened at the first use and shared from then on. */
export interface LogAccess {
  /** An SQLite file, or the address of a server. */
  readonly target: string
  /** @throws ToolwrightError what `openDatabase` throws */
  open(): Promise<RunLog>
  /** As `open`, but nothing is made by looking: undefined where there is none yet. */
  look(): Promise<RunLog | undefined>
  close(): Promise<void>
}

/** @param configured a `postgres://` address or a file in place of the one in the folder of state */
export function logAccess(configured: string | undefined, own: string): LogAccess {
  const target = configured ?? own
  let opened: Promise<RunLog> | undefined
  const open = (): Promise<RunLog> =>
    (opened ??= openAt(configured, own).then(runLog)).catch((thrown: unknown) => {
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
    async close() {
      const log = await opened?.catch(() => undefined)
      opened = undefined
      await log?.database.close()
    },
  }
}

function openAt(configured: string | undefined, own: string) {
  if (configured !== undefined && (isPostgres(configured) || basename(configured) !== STATE_DATABASE))
    return openDatabase(configured)
  const folder = dirname(configured ?? own)
  if (configured === undefined) createStateFolder(folder)
  return openStateDatabase(folder)
}

import { resolve } from "node:path"
import { createRedactor } from "@toolwright/host/text"
import { isPostgres, listTasks, shownTask, type TaskRow } from "@toolwright/store/state"
import { placeOf } from "../assembly/place.ts"
import { isThere, openState } from "../assembly/state.ts"
import { environmentSecrets } from "../secrets/values.ts"

/**
 * The newest tasks of a folder in which nothing is configured, as they may be shown, without loading what a
 * configuration, a log or a queue needs. Nothing is made by looking.
 *
 * @param named a database in place of the folder's own
 */
export async function lookAtTasks(
  named: string | undefined,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<{ target: string; rows: TaskRow[] }> {
  const place = placeOf({ workspace: { mounts: "plain" } }, { cwd, env, withBuiltins: true, log: () => {} })
  const configured = named === undefined || isPostgres(named) ? named : resolve(cwd, named)
  const target = configured ?? place.stateDatabase
  if (!isThere(target)) return { target, rows: [] }
  await using database = await openState(configured, place)
  const redact = createRedactor(environmentSecrets(env))
  return { target, rows: (await listTasks(database, {})).map((row) => shownTask(row, redact)) }
}

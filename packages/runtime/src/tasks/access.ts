import type { Redactor } from "@toolwright/host/text"
import { taskQueue, type TaskQueue, type TaskRow } from "@toolwright/store"
import { shownTask } from "@toolwright/store/state"
import { databaseOf, logAccess, type LogAccess } from "../assembly/log.ts"
import { placeOf, type Place } from "../assembly/place.ts"
import type { Configuration } from "../configuration/settings.ts"
import { redactorFor } from "../secrets/redactor.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** The tasks that a configuration names, opened at the first use. */
export interface TaskAccess {
  /** An SQLite file, or the address of a server. */
  readonly target: string
  /** The folder that a worker under this configuration works in. */
  readonly root: string
  /** What tasks of this folder say as their workspace: nothing where the database is the folder's own. */
  readonly workspace: string | undefined
  /** The database that they are in. */
  readonly log: LogAccess
  open(): Promise<TaskQueue>
  /** As `open`, but nothing is made by looking: undefined where there is none yet. */
  look(): Promise<TaskQueue | undefined>
  /** A task as it may be shown: without secrets that are known by their form, or from environment and configuration. */
  shown(row: TaskRow): TaskRow
  close(): Promise<void>
}

/** Finds out where tasks under a configuration are kept, without anything else that a run needs. */
export function tasksFor(configuration: Configuration, { cwd, env }: { cwd: string; env: Environment }): TaskAccess {
  const place = placeOf(configuration, { cwd, env, withBuiltins: true, log: () => {} })
  return tasksOver(logAccess(databaseOf(configuration, cwd), place), { ...place, env }, configuration)
}

/** The tasks in the database of a log. */
export function tasksOver(
  log: LogAccess,
  { root, stateDatabase, env }: Pick<Place, "root" | "stateDatabase"> & { env: Environment },
  configuration: Configuration,
): TaskAccess {
  const { maxNestingDepth: maxDepth } = configuration.agent
  let redact: Redactor | undefined
  const queues = new WeakMap<object, TaskQueue>()
  const queueOf = (runs: Awaited<ReturnType<LogAccess["open"]>>): TaskQueue => {
    const { database } = runs
    const cancelledRun = async (run: string, reason: string): Promise<void> =>
      (await import("./cancelled-run.ts")).endCancelledRun(runs, run, reason)
    const queue = queues.get(database) ?? taskQueue(database, { cancelledRun, maxDepth })
    queues.set(database, queue)
    return queue
  }
  return {
    target: log.target,
    log,
    root,
    workspace: log.target === stateDatabase ? undefined : root,
    open: async () => queueOf(await log.open()),
    async look() {
      const found = await log.look()
      return found === undefined ? undefined : queueOf(found)
    },
    shown: (row) => shownTask(row, (redact ??= redactorFor({ ...configuration, secrets: {} }, env))),
    close: () => log.close(),
  }
}

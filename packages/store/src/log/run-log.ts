import { nearest, ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "../database/database.ts"
import type { SqlValue } from "../database/driver.ts"
import { askedOf, type Asked } from "./asked.ts"
import { GENESIS, saltMaker } from "./chain.ts"
import type { LogEvent } from "./event.ts"
import { follow, type FollowOptions } from "./follow.ts"
import { readEvents, type EventRange } from "./read.ts"
import { BEGIN_RUN, CLAIM_RUN, LAST_EVENT, RUN_COLUMNS } from "./statements.ts"
import type { Selectable } from "kysely"
import type { RunState, RunTable } from "../tables.ts"
import { unwritable, writerOf, type RunWriter } from "./writer.ts"

/** A run, without its events. Times are milliseconds since 1970. */
export type RunRow = Selectable<RunTable>

/** A run that begins. */
export interface NewRun extends Asked {
  id: string
  agent: string
  model: string
  title: string
  surface: string
  /** Who writes it, as {@link RunRow.holder}. */
  holder: string
  time: number
  task?: string
  workspace?: string
  caller?: string
  /** The run that it branches off, and the last event that they share. */
  parent?: { run: string; seq: number }
  /** The run that it is about: that one has ended, and nothing is added to it. */
  about?: string
}

/** Which runs {@link RunLog.list} lists, newest first. */
export interface RunFilter {
  limit?: number
  offset?: number
  state?: RunState
  surface?: string
  task?: string
  agent?: string
  /** Only those that are about this run. */
  about?: string
  /** Whether single calls that belong to no agent are among them; they are unless this is false. */
  calls?: boolean
  /** Only those that calls of this run asked for; with `null` only those that no run asked for. */
  askedBy?: string | null
}

/** The runs of a database, and their events. */
export interface RunLog {
  readonly database: Database
  /**
   * @throws ToolwrightError `UNKNOWN_RUN` where it branches off one that is not there, or after its end; `RUN_HELD`,
   *   `RUN_ENDED` where somebody has begun a run of this id; `LOG_UNWRITABLE`
   */
  begin(run: NewRun): Promise<RunWriter>
  /**
   * Writes a run that is on record with the first of its events: nothing is written before, and one that ends with its
   * first events is written in one go.
   */
  draft(run: Omit<NewRun, "parent">): RunWriter
  /**
   * Takes a run over from whoever wrote it, if they were last heard of before `deadBefore` or have let go of it. From
   * then on they can write nothing more.
   *
   * @throws ToolwrightError `RUN_HELD`, `RUN_ENDED`, `UNKNOWN_RUN`, `LOG_UNWRITABLE`
   */
  claim(run: string, claim: { holder: string; time: number; deadBefore: number }): Promise<RunWriter>
  get(run: string): Promise<RunRow | undefined>
  /** The run that a call of another run asked for, by the call's key. */
  askedBy(run: string, key: string): Promise<RunRow | undefined>
  /** By its id, its beginning where only one begins so, or `latest`. @throws ToolwrightError `UNKNOWN_RUN` */
  find(id: string): Promise<RunRow>
  list(filter?: RunFilter): Promise<RunRow[]>
  /** In order; of a branch, with those that it shares with its parents. */
  events(run: string, range?: EventRange): Promise<LogEvent[]>
  /** Events as they are written, in pieces, until the run has ended or waits for somebody, or the signal is aborted. */
  follow(run: string, options?: FollowOptions): AsyncGenerator<LogEvent[]>
}

/** The log of a database. */
export function runLog(database: Database): RunLog {
  /** Wakes those in this process who follow a run. */
  const listeners = new Map<string, Set<() => void>>()
  const salt = saltMaker()
  const wake = (run: string) => (): void => listeners.get(run)?.forEach((listener) => listener())
  const get = async (id: string): Promise<RunRow | undefined> =>
    (await database.query<RunRow>(`SELECT ${RUN_COLUMNS} FROM runs WHERE id = ?`, [id]))[0]
  const head = async (run: string): Promise<{ seq: number; hash: string } | undefined> =>
    (await database.query<{ seq: number; hash: string }>(LAST_EVENT, [run]))[0]

  const log: RunLog = {
    database,
    begin: (run) =>
      toldReadably(run.id, async () => {
        const { id, holder, time, parent } = run
        const start = await branchPoint(database, parent)
        const values = [...headOf(run), holder, time, parent?.run ?? null, parent?.seq ?? null, time, ...askedOf(run)]
        const [begun] = await database.query<{ fence: number }>(BEGIN_RUN, values)
        if (begun === undefined) throw notClaimed((await get(id))!)
        return writerOf(database, { run: id, fence: begun.fence, ...start, salt }, wake(id))
      }),
    draft(run) {
      const { id, holder, time } = run
      const draft = { head: headOf(run), holder, time }
      return writerOf(database, { run: id, fence: 1, seq: 0, head: GENESIS, salt, draft }, wake(id))
    },
    claim: (run, { holder, time, deadBefore }) =>
      toldReadably(run, async () => {
        const [claimed] = await database.query<{ fence: number }>(CLAIM_RUN, [holder, time, run, deadBefore])
        const row = await get(run)
        if (row === undefined) throw new ToolwrightError("UNKNOWN_RUN", `There is no run '${run}'.`)
        if (claimed === undefined) throw notClaimed(row)
        const last = (await head(run)) ?? undefined
        const start =
          last === undefined
            ? await branchPoint(
                database,
                row.parent_run === null ? undefined : { run: row.parent_run, seq: row.parent_seq! },
              )
            : { seq: last.seq, head: last.hash }
        return writerOf(database, { run, fence: claimed.fence, ...start, salt }, wake(run))
      }),
    get,
    askedBy: async (run, key) => (await database.query<RunRow>(FIND_ASKED, [run, key]))[0],
    async find(id) {
      if (id === "latest") {
        const [newest] = await log.list({ limit: 1, askedBy: null })
        if (newest !== undefined) return newest
      } else {
        const exact = await get(id)
        if (exact !== undefined) return exact
      }
      return found(database, id)
    },
    list: (filter) => listRuns(database, filter),
    events: (run, range) => readEvents(database, run, range),
    follow: (run, options = {}) => follow({ get, events: log.events, listeners, run, ...options }),
  }
  return log
}

function listRuns(
  database: Database,
  { limit = 50, offset = 0, state, surface, task, agent, about, calls = true, askedBy }: RunFilter = {},
): Promise<RunRow[]> {
  // Said as an index of one surface says it, which no value that is given later is compared with.
  const said = surface !== undefined && /^[a-z]{1,32}$/.test(surface)
  const given = { state, surface: said ? undefined : surface, task, agent, about, asked_by: askedBy ?? undefined }
  const wanted = Object.entries(given).filter(([, value]) => value !== undefined)
  const conditions = [
    ...wanted.map(([column]) => `${column} = ?`),
    ...(said ? [`surface = '${surface}'`] : []),
    // Said as the index of open runs says it.
    ...(state === undefined || state === "ended" ? [] : ["state <> 'ended'"]),
    ...(calls ? [] : ["agent <> ''"]),
    ...(askedBy === null ? ["asked_by IS NULL"] : []),
  ]
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`
  return database.query<RunRow>(
    `SELECT ${RUN_COLUMNS} FROM runs ${where} ORDER BY started_at DESC, id DESC LIMIT ? OFFSET ?`,
    [...wanted.map(([, value]) => value!), limit, offset],
  )
}

const FIND_ASKED = `SELECT ${RUN_COLUMNS} FROM runs WHERE asked_by = ? AND asked_key = ?`

/** What a row of a run begins with. */
function headOf({ id, task, agent, model, title, surface, workspace, caller, about }: NewRun): SqlValue[] {
  return [id, task ?? null, agent, model, title, surface, workspace ?? null, caller ?? null, about ?? null]
}

/** @throws ToolwrightError `LOG_UNWRITABLE` where the database itself throws: it may be away for a while */
async function toldReadably(run: string, open: () => Promise<RunWriter>): Promise<RunWriter> {
  try {
    return await open()
  } catch (thrown) {
    throw unwritable(run, thrown)
  }
}

/** What the first event of a run follows. */
async function branchPoint(
  database: Database,
  parent: { run: string; seq: number } | undefined,
): Promise<{ seq: number; head: string }> {
  if (parent === undefined) return { seq: 0, head: GENESIS }
  const [event] = await readEvents(database, parent.run, { after: parent.seq - 1, upTo: parent.seq })
  if (event === undefined)
    throw new ToolwrightError("UNKNOWN_EVENT", `The run ${parent.run} has no event ${parent.seq}.`)
  return { seq: parent.seq, head: event.hash }
}

function notClaimed({ id, state, holder }: RunRow): ToolwrightError {
  if (state === "ended") return new ToolwrightError("RUN_ENDED", `The run ${id} has ended.`)
  return new ToolwrightError("RUN_HELD", `The run ${id} is under way: ${holder ?? "somebody"} holds it.`, {
    hint: "Wait for its end, or stop the process that holds it.",
  })
}

async function found(database: Database, id: string): Promise<RunRow> {
  const pattern = `${id.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
  const rows = await database.query<RunRow>(
    `SELECT ${RUN_COLUMNS} FROM runs WHERE id LIKE ? ESCAPE '\\' ORDER BY started_at DESC LIMIT 10`,
    [pattern],
  )
  const matching = id === "latest" ? [] : rows.filter((row) => row.id.startsWith(id))
  if (matching.length === 1) return matching[0]!
  const known = (await database.query<{ id: string }>("SELECT id FROM runs ORDER BY started_at DESC LIMIT 200")).map(
    (row) => row.id,
  )
  const close = matching.length > 1 ? matching.map((row) => row.id) : nearest(id, known)
  throw new ToolwrightError(
    "UNKNOWN_RUN",
    matching.length > 1 ? `Several runs begin with '${id}'.` : `There is no run '${id}'.`,
    {
      hint:
        known.length === 0
          ? `No runs are recorded in ${database.name}.`
          : `Known: ${(close.length > 0 ? close : known.slice(0, 5)).join(", ")}.`,
    },
  )
}

import { readBodies, type LogEvent, type NewEvent, type RunLog } from "@toolwright/store"
import { isJson, ToolwrightError } from "@toolwright/toolbox"
import { eventDigest, runDigest } from "./digest.ts"
import type { EventDigest, RunDigest } from "./shapes.ts"

/** A run as a file holds it. */
export interface ExportedRun {
  format: "toolwright-run"
  version: 1
  run: RunDigest
  summary: string
  events: { digest: EventDigest; hash: string; body?: string }[]
  /** Texts that events name by their hash: prompts and messages. */
  bodies: Record<string, string>
  /** The runs that its calls asked for, each with those that it asked for itself. */
  below?: ExportedRun[]
}

const MOST_EVENTS = 1_000_000
const MOST_BELOW = 200
const AT_ONCE = 500

/**
 * What a file holds of a run: all events with their bodies, which are on record without secrets, and the runs that it
 * asked for.
 */
export async function exportedRun(log: RunLog, id: string): Promise<ExportedRun> {
  return exported(log, id, { left: MOST_BELOW })
}

async function exported(log: RunLog, id: string, room: { left: number }): Promise<ExportedRun> {
  const row = await log.find(id)
  const events = await log.events(row.id)
  const bodies = await readBodies(log.database, events.flatMap(namedBodies))
  const asked = (await log.list({ askedBy: row.id, limit: MOST_BELOW })).toReversed()
  const below: ExportedRun[] = []
  for (const each of asked) if (room.left-- > 0) below.push(await exported(log, each.id, room))
  return {
    format: "toolwright-run",
    version: 1,
    run: runDigest(row, Date.now()),
    summary: row.summary ?? "{}",
    events: events.map((event) => ({
      digest: eventDigest(event),
      hash: event.hash,
      ...(event.body === undefined ? {} : { body: event.body }),
    })),
    bodies: Object.fromEntries(bodies),
    ...(below.length === 0 ? {} : { below }),
  }
}

/** How many characters a run's own events have: what an export of it takes at least. */
export async function sizeOf(log: RunLog, run: string): Promise<number> {
  const [row] = await log.database.query<{ size: number | null }>(
    `SELECT SUM(LENGTH(COALESCE(run_events.body, bodies.content))) AS size
     FROM run_events LEFT JOIN bodies ON bodies.hash = run_events.body_ref WHERE run_events.run = ?`,
    [run],
  )
  return Number(row?.size ?? 0)
}

const HASH = /"([0-9a-f]{64})"/g

/** Every hash that stands in an event: what none of the bodies has is no body. */
function namedBodies({ body = "" }: LogEvent): string[] {
  return [...body.matchAll(HASH)].map(([, hash]) => hash!)
}

/**
 * Takes a run, with those that it asked for, into the log. Each keeps its id, and gets a chain of hashes of its own
 * here; that it came from elsewhere its surface says.
 *
 * @param value what `exportedRun` gave, as it was read from somewhere
 * @throws ToolwrightError `RUN_UNREADABLE` for anything else, `RUN_EXISTS` where one of them is here already: then none
 *   is taken
 */
export async function importRun(log: RunLog, value: unknown): Promise<string> {
  const run = soundRun(value)
  const all = withBelow(run)
  if (new Set(all.map(({ run: { id } }) => id)).size !== all.length) throw unreadable("it holds a run twice")
  for (const { run: each } of all)
    if ((await log.get(each.id)) !== undefined)
      throw new ToolwrightError("RUN_EXISTS", `The run ${each.id} is here already.`)
  for (const each of all) await write(log, each)
  return run.run.id
}

interface Placed extends ExportedRun {
  /** The run above it. */
  above?: string
}

function withBelow(run: ExportedRun): Placed[] {
  const all: Placed[] = [run]
  // Whoever asked comes first: a row names its own by their ids.
  for (const each of all) for (const child of each.below ?? []) all.push({ ...child, above: each.run.id })
  return all
}

async function write(log: RunLog, { run, events, bodies, summary, above }: Placed): Promise<void> {
  const { id, agent, model, title, started, ended = started, status, askedBy } = run
  const asked = above === undefined ? {} : { askedBy: { run: above, call: askedBy?.call ?? "", key: `import/${id}` } }
  const writer = await log.begin({
    id,
    agent,
    model,
    title,
    surface: "import",
    holder: "import",
    time: started,
    ...asked,
  })
  for (const text of Object.values(bodies)) writer.keep(text)
  const written: NewEvent[] = events.map(({ digest: { type, time }, body = '{"erased":true}' }) => ({
    type,
    time,
    body,
  }))
  const last = Math.max(0, written.length - 1)
  for (let from = 0; from < last; from += AT_ONCE)
    await writer.append(written.slice(from, Math.min(last, from + AT_ONCE)))
  await writer.end(written.slice(last), { outcome: status, summary, time: ended })
}

function soundRun(value: unknown): ExportedRun {
  const { format, version } = (value ?? {}) as Partial<ExportedRun>
  if (format !== "toolwright-run" || version !== 1) throw unreadable("it holds no exported run")
  if (!isSound(value as Partial<ExportedRun>, { left: MOST_BELOW + 1 })) throw unreadable("the run in it is damaged")
  return value as ExportedRun
}

function isSound(
  { run, events, bodies = {}, summary, below = [] }: Partial<ExportedRun>,
  room: { left: number },
): boolean {
  if (room.left-- <= 0 || !soundHead(run) || typeof bodies !== "object" || bodies === null) return false
  if ([summary, ...Object.values(bodies)].some((text) => typeof text !== "string")) return false
  if (!Array.isArray(events) || events.length > MOST_EVENTS || !events.every(soundEvent)) return false
  return Array.isArray(below) && below.every((each) => typeof each === "object" && each !== null && isSound(each, room))
}

/** What an outcome and the kind of an event are made of: lists show them as they are. */
const WORD = /^[a-z][a-z0-9-]{0,59}$/
/** The last moment that dates can tell: a single later one would keep every list that it stands in from being shown. */
const LAST_TIME = 8.64e15
/** Characters of an agent's or a model's name: all lists show them whole. */
const LONGEST_NAME = 1_000

function isTime(value: unknown): boolean {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= LAST_TIME
}

const isName = (value: unknown): boolean => typeof value === "string" && value.length <= LONGEST_NAME

function soundHead(run: Partial<RunDigest> | null | undefined): boolean {
  if (typeof run !== "object" || run === null) return false
  const { id, agent, model, title, status, started, ended = 0, askedBy } = run
  if (typeof id !== "string" || !/^[\w-]{1,100}$/.test(id) || typeof title !== "string") return false
  if (typeof status !== "string" || !WORD.test(status) || ![started, ended].every(isTime)) return false
  return [agent, model, ...(askedBy === undefined ? [] : [askedBy?.call])].every(isName)
}

function soundEvent(event: ExportedRun["events"][number] | null): boolean {
  if (typeof event?.digest?.type !== "string" || !WORD.test(event.digest.type)) return false
  if (!isTime(event.digest.time)) return false
  return event.body === undefined || (typeof event.body === "string" && isJson(event.body))
}

const unreadable = (why: string): ToolwrightError =>
  new ToolwrightError("RUN_UNREADABLE", `It cannot be imported: ${why}.`, {
    hint: "Give a file that 'toolwright runs export' or the console has written.",
  })

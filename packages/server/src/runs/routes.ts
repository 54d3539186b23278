import { Hono, type Context } from "hono"
import { wholeBody } from "@toolwright/agents"
import { readBodies, type LogEvent, type RunLog, type RunRow } from "@toolwright/store"
import type { CallGate } from "@toolwright/toolbox"
import type { Followers, Telling } from "../http/followers.ts"
import type { RequestVariables } from "../http/guard.ts"
import { createInTurn } from "../http/in-turn.ts"
import { problem } from "../http/problem.ts"
import type { PageSource, RunSource, RunStarter } from "../http/sources.ts"
import { sendText } from "../http/sent.ts"
import { whole } from "../http/whole.ts"
import { eventDigest, runDigest, textsNamedBy } from "./digest.ts"
import { exchangeRoutes } from "./exchange-routes.ts"
import { countAsked, findRuns } from "./find.ts"
import { startRoutes } from "./start.ts"
import type { EventBody, EventPage, KeptText, RunDetail, RunDigest, RunList } from "./shapes.ts"

type Variables = RequestVariables

const MOST_RUNS = 200
const MOST_EVENTS = 20_000
const MOST_TEXT = 1 << 20
/** Pages of events that are read at once: each holds what it has read until it is sent. */
const PAGES_AT_ONCE = 4

/**
 * The runs on record: `GET /runs` lists them, `GET /runs/{id}` is one, `GET /runs/{id}/events` its events by range as
 * digests, `GET /runs/{id}/events/{seq}` one with its body, `…/kept/{hash}` a text that it names by its hash,
 * `GET /runs/{id}/stream` what happens as it happens. The holder of a token for some tags sees the calls made with
 * that token, and nothing else.
 */
export function runRoutes(
  source: RunSource,
  { gate, followers, starter, page, secured = false }: RunParts,
): Hono<{ Variables: Variables }> {
  const routes = new Hono<{ Variables: Variables }>({ strict: false })
  if (starter !== undefined) startRoutes(routes, starter, { maxBytes: 1024 * 1024, timeoutMs: 30_000 })

  const reader = readerOf(source, gate)
  exchangeRoutes(routes, source, { gate, secured, page, visible: reader.visible })
  listRoute(routes, source, reader)
  eventRoutes(routes, reader)
  streamRoute(routes, reader, followers)
  return routes
}

/** What the runs of a server are shown and started with. */
interface RunParts {
  gate: CallGate
  followers: Followers
  starter?: RunStarter | undefined
  page?: PageSource | undefined
  /** Whether a token is asked for. */
  secured?: boolean
}

type Asked = Context<{ Variables: Variables }>
type Routes = Hono<{ Variables: Variables }>

/** What the routes have in common. */
interface Reader {
  send(context: Asked, value: unknown): Response
  /** Another's run is one that is not there. */
  visible(context: Asked): Promise<{ log: RunLog; row: RunRow } | Response>
}

function readerOf(source: RunSource, gate: CallGate): Reader {
  return {
    send: (context, value) =>
      sendText(context, gate, JSON.stringify(value), {
        "content-type": "application/json",
        "cache-control": "no-store",
      }),
    async visible(context) {
      const id = context.req.param("id")!
      const log = await source.look()
      const row = await log?.get(id)
      const narrow = context.get("access")?.tags !== undefined
      if (row === undefined || (narrow && (row.agent !== "" || row.caller !== context.get("caller"))))
        return problem({
          code: "UNKNOWN_RUN",
          message: `There is no run '${id.slice(0, 100)}'.`,
          hint: "GET /runs lists them.",
        })
      return { log: log!, row }
    },
  }
}

function listRoute(routes: Routes, source: RunSource, { send }: Reader): void {
  routes.get("/", async (context) => {
    const log = await source.look()
    const ask = context.req.query()
    const limit = whole(ask.limit, 50, 1, MOST_RUNS)
    const narrow = context.get("access")?.tags !== undefined
    const { before, agent, surface, task, tool, text, only, askedBy } = ask
    const rows =
      log === undefined
        ? []
        : await findRuns(log.database, {
            limit,
            before,
            surface,
            task,
            tool,
            askedBy,
            ...(ask.calls === "0" ? { calls: false } : {}),
            ...(text === undefined || text === "" ? {} : { text: text.slice(0, 200) }),
            ...(only === "open" || only === "failed" ? { only } : {}),
            ...(narrow ? { agent: "", caller: context.get("caller") } : { agent }),
          })
    const now = Date.now()
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    const list: RunList = {
      runs: log === undefined ? [] : await withAsked(log, shown, now),
      ...(rows.length > limit && last !== undefined ? { next: `${Number(last.started_at)}~${last.id}` } : {}),
    }
    return send(context, list)
  })
}

/** Rows as lists show them, each with how many runs it asked for. */
async function withAsked(log: RunLog, rows: readonly RunRow[], now: number): Promise<RunDigest[]> {
  const counted = await countAsked(
    log.database,
    rows.filter(({ agent }) => agent !== "").map(({ id }) => id),
  )
  return rows.map((row) => {
    const asks = counted.get(row.id)
    return { ...runDigest(row, now), ...(asks === undefined ? {} : { asks }) }
  })
}

function eventRoutes(routes: Routes, { send, visible }: Reader): void {
  routes.get("/:id", async (context) => {
    const found = await visible(context)
    if (found instanceof Response) return found
    const { log, row } = found
    const [last] = await log.database.query<{ seq: number | null }>(
      "SELECT MAX(seq) AS seq FROM run_events WHERE run = ?",
      [row.id],
    )
    const branches = await log.database.query<{ id: string; seq: number; title: string }>(
      "SELECT id, parent_seq AS seq, title FROM runs WHERE parent_run = ? ORDER BY started_at LIMIT 200",
      [row.id],
    )
    const now = Date.now()
    const undone = (await log.list({ about: row.id, limit: MOST_RUNS })).map((record) => ({
      id: record.id,
      by: record.caller ?? "",
      time: Number(record.started_at),
      status: runDigest(record, now).status,
    }))
    const asked = (await log.list({ askedBy: row.id, limit: MOST_RUNS })).toReversed()
    const detail: RunDetail = {
      ...runDigest(row, now),
      lastSeq: last?.seq ?? row.parent_seq ?? 0,
      branches,
      undone,
      asked: await withAsked(log, asked, now),
    }
    return send(context, detail)
  })

  const inTurn = createInTurn(PAGES_AT_ONCE)
  routes.get("/:id/events", async (context) => {
    const found = await visible(context)
    if (found instanceof Response) return found
    const { log, row } = found
    const limit = whole(context.req.query("limit"), 2000, 1, MOST_EVENTS)
    const after = whole(context.req.query("after"), 0, 0, 2 ** 31 - 1)
    return inTurn(async () => send(context, await pageOf(log, row.id, { after, limit })))
  })

  bodyRoutes(routes, { send, visible })
}

function bodyRoutes(routes: Routes, { send, visible }: Reader): void {
  /** The event that an address names. */
  const eventAt = async (context: Asked): Promise<{ log: RunLog; event: LogEvent } | Response> => {
    const found = await visible(context)
    if (found instanceof Response) return found
    const { log, row } = found
    const asked = context.req.param("seq")!
    const seq = whole(asked, 0, 0, 2 ** 31 - 1)
    const [event] = await log.events(row.id, { after: seq - 1, upTo: seq, limit: 1 })
    if (seq > 0 && event !== undefined) return { log, event }
    return problem({ code: "UNKNOWN_EVENT", message: `The run ${row.id} has no event ${asked.slice(0, 20)}.` })
  }

  routes.get("/:id/events/:seq", async (context) => {
    const found = await eventAt(context)
    if (found instanceof Response) return found
    const { seq, type, time, hash } = found.event
    const body = wholeBody(found.event) ?? ""
    const answer: EventBody = { seq, type, time: Number(time), hash, ...partOf(context, body) }
    return send(context, found.event.body === undefined ? { ...answer, erased: true } : answer)
  })

  routes.get("/:id/events/:seq/kept/:hash", async (context) => {
    const found = await eventAt(context)
    if (found instanceof Response) return found
    const hash = context.req.param("hash")
    // What another run holds is not to be had by its hash here.
    if (!textsNamedBy(found.event).includes(hash))
      return problem({ code: "UNKNOWN_EVENT", message: `Event ${found.event.seq} names no text by this hash.` })
    const text = (await readBodies(found.log.database, [hash])).get(hash)
    const answer: KeptText = { ...partOf(context, text ?? ""), ...(text === undefined ? { erased: true } : {}) }
    return send(context, answer)
  })
}

/** The part of a text that is asked for: a megabyte at most. */
function partOf(context: Asked, text: string): { size: number; from: number; text: string } {
  const from = whole(context.req.query("from"), 0, 0, text.length)
  const length = whole(context.req.query("length"), MOST_TEXT, 1, MOST_TEXT)
  return { size: text.length, from, text: text.slice(from, from + length) }
}

/** Characters of bodies that are read in one go, and after which a page ends: a reader comes again for more. */
const AT_ONCE = 1 << 20
const MOST_READ = 8 << 20
const FEWEST = 10
const MOST_AT_ONCE = 1000

/** Events without their bodies; between its pieces others are served. */
async function pageOf(
  log: RunLog,
  run: string,
  { after, limit }: { after: number; limit: number },
): Promise<EventPage> {
  const events: EventPage["events"] = []
  let next = 50
  for (let read = 0; read < MOST_READ;) {
    const wanted = Math.min(next, limit - events.length)
    const piece = await log.events(run, { after, limit: wanted + 1 })
    const shown = piece.slice(0, wanted)
    events.push(...shown.map(eventDigest))
    if (piece.length <= wanted) return { events, more: false }
    if (events.length === limit) break
    after = shown.at(-1)!.seq
    const size = shown.reduce((sum, { body = "" }) => sum + body.length, 0)
    read += size
    next = Math.max(FEWEST, Math.min(MOST_AT_ONCE, Math.floor((AT_ONCE * shown.length) / Math.max(1, size))))
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return { events, more: true }
}

function streamRoute(routes: Routes, { visible }: Reader, followers: Followers): void {
  routes.get("/:id/stream", async (context) => {
    const found = await visible(context)
    if (found instanceof Response) return found
    const { log, row } = found
    const after = whole(context.req.header("last-event-id") ?? context.req.query("after"), 0, 0, 2 ** 31 - 1)
    return followers.follow(context, (telling) => followRun(log, row.id, after, telling))
  })
}

/** Each event once it is written, and at the end the run as it then is. */
async function followRun(log: RunLog, run: string, after: number, { event, left }: Telling): Promise<void> {
  for await (const piece of log.follow(run, { after, signal: left }))
    for (const one of piece)
      await event({ id: String(one.seq), event: "event", data: JSON.stringify(eventDigest(one)) })
  const row = await log.get(run)
  if (row !== undefined) await event({ event: "run", data: JSON.stringify(runDigest(row, Date.now())) })
}

import { readFileSync, statSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { runInPage, runAsPage, consoleFiles } from "@toolwright/console"
import { eventDigest, runDigest, type RunDigest } from "@toolwright/server"
import { readBodies, type LogEvent, type NewEvent, type RunLog } from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"

/** A run as a file holds it. */
export interface ExportedRun {
  format: "toolwright-run"
  version: 1
  run: RunDigest
  summary: string
  events: { digest: ReturnType<typeof eventDigest>; hash: string; body?: string }[]
  /** Texts that events name by their hash: prompts and messages. */
  bodies: Record<string, string>
}

const LARGEST = 1 << 30
const MOST_EVENTS = 1_000_000
const AT_ONCE = 500

/** What a file holds of a run: all events with their bodies, which are on record without secrets. */
export async function exportedRun(log: RunLog, id: string): Promise<ExportedRun> {
  const row = await log.find(id)
  const events = await log.events(row.id)
  const bodies = await readBodies(log.database, events.flatMap(namedBodies))
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
  }
}

const HASH = /"([0-9a-f]{64})"/g

/** Every hash that stands in an event: what none of the bodies has is no body. */
function namedBodies({ body = "" }: LogEvent): string[] {
  return [...body.matchAll(HASH)].map(([, hash]) => hash!)
}

/** Writes a run into a file. @returns where it lies */
export async function writeExport(
  log: RunLog,
  id: string,
  { cwd, to, html, log: say }: { cwd: string; to?: string | undefined; html: boolean; log: (line: string) => void },
): Promise<string> {
  const run = await exportedRun(log, id)
  const file = resolve(cwd, to ?? `${run.run.id}.${html ? "html" : "json"}`)
  const text = html
    ? await runAsPage(consoleFiles({ log: say }), `${run.run.title}: a run of ${run.run.agent || "a tool"}`, run)
    : `${JSON.stringify(run)}\n`
  writeFileSync(file, text)
  return file
}

/**
 * Takes a run out of a file into the log. It keeps its id, and gets a chain of hashes of its own here; that it came from
 * elsewhere its surface says.
 */
export async function importRun(log: RunLog, path: string): Promise<string> {
  const { run, events, bodies, summary } = readExport(path)
  if ((await log.get(run.id)) !== undefined)
    throw new ToolwrightError("RUN_EXISTS", `The run ${run.id} is here already.`)
  const { id, agent, model, title, started, ended = started, status } = run
  const writer = await log.begin({ id, agent, model, title, surface: "import", holder: "import", time: started })
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
  return id
}

function readExport(path: string): ExportedRun {
  const { size } = statSync(path)
  if (size > LARGEST) throw unreadable(path, `it has ${size} bytes, and at most ${LARGEST} are read`)
  const text = readFileSync(path, "utf8")
  const value = (text.trimStart().startsWith("{") ? parsed(text) : runInPage(text)) as Partial<ExportedRun> | undefined
  if (value === undefined || value === null || value.format !== "toolwright-run" || value.version !== 1)
    throw unreadable(path, "it holds no exported run")
  if (!isSound(value)) throw unreadable(path, "the run in it is damaged")
  return value as ExportedRun
}

function isSound({ run, events, bodies = {}, summary }: Partial<ExportedRun>): boolean {
  if (typeof run !== "object" || run === null || !/^[\w-]{1,100}$/.test(String(run.id))) return false
  const texts = [run.agent, run.model, run.title, run.status, summary, ...Object.values(bodies)]
  if (!Number.isFinite(run.started) || texts.some((text) => typeof text !== "string")) return false
  return Array.isArray(events) && events.length <= MOST_EVENTS && events.every(soundEvent)
}

function soundEvent(event: ExportedRun["events"][number] | null): boolean {
  if (typeof event?.digest?.type !== "string" || !Number.isFinite(event.digest.time)) return false
  return event.body === undefined || (typeof event.body === "string" && parsed(event.body) !== undefined)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

const unreadable = (path: string, why: string): ToolwrightError =>
  new ToolwrightError("RUN_UNREADABLE", `${path} cannot be imported: ${why}.`, {
    hint: "Give a file that 'toolwright runs export' has written.",
  })

import {
  failure,
  success,
  ToolwrightError,
  type JsonObject,
  type ToolContext,
  type ToolHandler,
  type ToolResult,
} from "@toolwright/toolbox"
import { NetworkError, networkFailure, type NetworkHost, cleanLine, cleanText, truncate } from "@toolwright/host/net"
import type { Workspace } from "@toolwright/host/paths"
import type { CalendarConfig } from "./config.ts"
import {
  addEvent,
  addMissingZones,
  changeEvent,
  excludeOccurrence,
  findEvent,
  print,
  readableTreeOf,
  removeEvent,
  treeOf,
} from "./edit.ts"
import { listEvents, spanOf, textOf, type CalendarEvent, type CalendarTree } from "./events.ts"
import { expandEvent, type Occurrence } from "./expand.ts"
import { parseTime } from "./moments.ts"
import { calendarSource } from "./source.ts"
import { formatMoment, namedZone, systemZone, type Zone } from "./zones.ts"

const YEAR_MS = 366 * 86_400_000
const LONGEST_WINDOW = 5 * YEAR_MS
const PER_EVENT = 1000

/** The handler of `calendar`. */
export function createCalendarHandler(host: NetworkHost, workspace: Workspace, config: CalendarConfig): ToolHandler {
  const source = calendarSource(host, workspace, config)
  const now = config.now ?? Date.now

  return async (args, context) => {
    try {
      const zone = chosenZone(args.time_zone, config.timeZone)
      const warnings: string[] = []
      const warn = (text: string) => warnings.push(cleanLine(text))
      switch (args.action) {
        case "list_events":
          return list(readableTreeOf(await source.read(context), warn), args, zone, now(), warnings)
        case "get_event":
          return get(readableTreeOf(await source.read(context), warn), args, zone, now())
        case "check_availability":
          return availability(readableTreeOf(await source.read(context), warn), args, zone)
        default:
          return await change(args, context, zone)
      }
    } catch (thrown) {
      if (thrown instanceof NetworkError) return networkFailure(withoutAddress(thrown), "Reading the calendar")
      if (!ToolwrightError.isInstance(thrown)) throw thrown
      return failure({
        code: thrown.code,
        message: thrown.message,
        ...(thrown.hint === undefined ? {} : { hint: thrown.hint }),
      })
    }
  }

  async function change(args: JsonObject, context: ToolContext, zone: Zone): Promise<ToolResult> {
    // A first, discarded pass finds every error before anything is written, and loads what the second, synchronous one
    // needs.
    const draft = treeOf(await source.read(context))
    applyChange(draft, args, zone, now())
    await addMissingZones(draft)
    const timezones = draft.calendars.flatMap((calendar) => calendar.getAllSubcomponents("vtimezone"))
    let outcome: { event?: CalendarEvent; text: string } = { text: "" }
    const shown = await source.change((text) => {
      const tree = treeOf(text)
      outcome = applyChange(tree, args, zone, now())
      const known = new Set(tree.root.getAllSubcomponents("vtimezone").map((one) => one.getFirstPropertyValue("tzid")))
      for (const timezone of timezones) {
        if (!known.has(timezone.getFirstPropertyValue("tzid"))) tree.root.addSubcomponent(timezone)
      }
      return print(tree)
    })
    const { event, text } = outcome
    const data = event === undefined ? { deleted: args.id } : { event: describe(event, zone) }
    return success({
      output: event === undefined ? text : `${text}\n${eventLine(describe(event, zone))}`,
      data,
      modifiedFiles: [shown],
    })
  }
}

function applyChange(
  tree: CalendarTree,
  args: JsonObject,
  zone: Zone,
  now: number,
): { event?: CalendarEvent; text: string } {
  if (args.action === "create_event") return { event: addEvent(tree, args, zone, now), text: "Created:" }
  const event = findEvent(tree, String(args.id))
  if (args.action === "update_event") {
    changeEvent(event, args, zone, now)
    return { event, text: "Changed:" }
  }
  if (args.occurrence === undefined) {
    removeEvent(event)
    return { text: `Deleted '${titleOf(event)}'.` }
  }
  const wanted = parseTime(String(args.occurrence), zone, "occurrence").epoch
  const found = expandEvent(event, wanted, wanted + 1, zone, { perEvent: PER_EVENT, warn() {} }).find(
    ({ start }) => start === wanted,
  )
  if (found === undefined || !found.isRecurring) {
    throw new ToolwrightError(
      "OCCURRENCE_NOT_FOUND",
      `'${titleOf(event)}' does not take place at ${String(args.occurrence)}.`,
      {
        hint: "Take the start from list_events, or leave occurrence out to delete the whole event.",
      },
    )
  }
  if (found.component !== event.main) event.calendar.removeSubcomponent(found.component)
  excludeOccurrence(event, found.startWall, found.span.zone, found.span.isDate, now)
  return { text: `Deleted the time ${String(args.occurrence)} of '${titleOf(event)}'.` }
}

function list(tree: CalendarTree, args: JsonObject, zone: Zone, now: number, warnings: string[]): ToolResult {
  const from = typeof args.from === "string" ? parseTime(args.from, zone, "from").epoch : now
  const to = typeof args.to === "string" ? parseTime(args.to, zone, "to").epoch : from + YEAR_MS
  checkWindow(from, to)
  const query = typeof args.query === "string" ? args.query.toLowerCase() : ""
  const found = listEvents(tree)
    .flatMap((event) =>
      expandEvent(event, from, to, zone, { perEvent: PER_EVENT, warn: (text) => warnings.push(cleanLine(text)) }),
    )
    .filter(
      ({ component }) =>
        query === "" ||
        ["summary", "description", "location"].some((name) => textOf(component, name)?.toLowerCase().includes(query)),
    )
    .sort((one, other) => one.start - other.start)
  const limit = Number(args.limit ?? 20)
  const events = found.slice(0, limit).map((occurrence) => describeOccurrence(occurrence, zone))
  const isTruncated = found.length > limit
  const lines =
    events.length === 0
      ? [`No events between ${formatMoment(from, zone)} and ${formatMoment(to, zone)}.`]
      : events.map(eventLine)
  return success({
    output: [
      ...lines,
      ...(isTruncated ? [`… and ${found.length - limit} more; raise limit or narrow the window.`] : []),
      ...warnings,
    ].join("\n"),
    data: { events, truncated: isTruncated, ...(warnings.length === 0 ? {} : { warnings }) },
  })
}

function get(tree: CalendarTree, args: JsonObject, zone: Zone, now: number): ToolResult {
  const event = findEvent(tree, String(args.id))
  const upcoming = expandEvent(event, now, now + LONGEST_WINDOW, zone, { perEvent: PER_EVENT, warn() {} }).slice(0, 3)
  const described: JsonObject = {
    ...describe(event, zone),
    next: upcoming.map(({ start, span }) => startText(start, span.isDate, zone)),
  }
  const description = typeof described.description === "string" ? `\n${described.description}` : ""
  return success({
    output: `${eventLine(described)}${description}\nNext: ${(described.next as string[]).join(", ") || "never"}`,
    data: { event: described },
  })
}

function availability(tree: CalendarTree, args: JsonObject, zone: Zone): ToolResult {
  const from = parseTime(String(args.start), zone, "start").epoch
  const to = parseTime(String(args.end), zone, "end").epoch
  checkWindow(from, to)
  const taken = listEvents(tree)
    .flatMap((event) => expandEvent(event, from, to, zone, { perEvent: PER_EVENT, warn() {} }))
    .filter(
      ({ component, end, start }) =>
        end > start && textOf(component, "transp") !== "TRANSPARENT" && textOf(component, "status") !== "CANCELLED",
    )
    .sort((one, other) => one.start - other.start)
  const shortest = Number(args.duration_minutes ?? 1) * 60_000
  const free: { start: string; end: string }[] = []
  let at = from
  for (const { start, end } of [...taken, { start: to, end: to }]) {
    if (Math.min(start, to) - at >= shortest)
      free.push({ start: formatMoment(at, zone), end: formatMoment(Math.min(start, to), zone) })
    at = Math.max(at, end)
  }
  const busy = taken.slice(0, 200).map(({ component, start, end }) => ({
    start: formatMoment(start, zone),
    end: formatMoment(end, zone),
    title: cleanLine(textOf(component, "summary") ?? "(untitled)"),
  }))
  const isAvailable = taken.length === 0
  const lines = [
    isAvailable ? "Free." : "Not free:",
    ...busy.map(({ start, end, title }) => `- ${start} to ${end}: ${title}`),
    ...(isAvailable || free.length === 0
      ? []
      : ["Free times:", ...free.map(({ start, end }) => `- ${start} to ${end}`)]),
  ]
  return success({ output: lines.join("\n"), data: { available: isAvailable, busy, free } })
}

function checkWindow(from: number, to: number): void {
  if (to <= from)
    throw new ToolwrightError("INVALID_TIME", "The window ends before it begins.", {
      hint: "Give an end after the beginning.",
    })
  if (to - from > LONGEST_WINDOW)
    throw new ToolwrightError("INVALID_TIME", "The window is longer than five years.", {
      hint: "Ask for a shorter one.",
    })
}

/** @throws ToolwrightError `INVALID_TIME` */
function chosenZone(asked: unknown, configured: string | undefined): Zone {
  const name = typeof asked === "string" ? asked : configured
  if (name === undefined) return systemZone()
  const zone = namedZone(name)
  if (zone !== undefined) return zone
  throw new ToolwrightError("INVALID_TIME", `'${name.slice(0, 60)}' is no time zone.`, {
    hint: "Use a name of the IANA database, such as Europe/Paris or UTC.",
  })
}

function titleOf(event: CalendarEvent): string {
  return cleanLine(textOf(event.main, "summary") ?? "(untitled)")
}

function describe(event: CalendarEvent, zone: Zone): JsonObject {
  const span = spanOf(event.main, event.calendar, zone)
  if (span === undefined)
    throw new ToolwrightError("INVALID_CALENDAR", `The event '${titleOf(event)}' has no readable start.`)
  const start = span.zone.toEpoch(span.startWall)
  const end = span.isDate ? span.zone.toEpoch(span.startWall + span.length) : start + span.length
  const isRecurring = event.main.getFirstProperty("rrule") !== null || event.main.getFirstProperty("rdate") !== null
  return describeOccurrence(
    { event, component: event.main, span, startWall: span.startWall, start, end, isRecurring },
    zone,
  )
}

function describeOccurrence({ event, component, span, start, end, isRecurring }: Occurrence, zone: Zone): JsonObject {
  const optional = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value })
  const description = textOf(component, "description")
  return {
    id: event.id,
    title: cleanLine(textOf(component, "summary") ?? "(untitled)"),
    start: startText(start, span.isDate, zone),
    end: startText(end, span.isDate, zone),
    all_day: span.isDate,
    ...optional("time_zone", span.isDate ? undefined : span.zone.id),
    ...optional("location", line(component, "location")),
    ...optional("description", description === undefined ? undefined : truncate(cleanText(description), 2000)),
    ...optional("url", line(component, "url")),
    ...optional("status", line(component, "status")),
    recurring: isRecurring,
    ...optional("recurrence", textOf(event.main, "rrule")),
  }
}

function line(component: Occurrence["component"], name: string): string | undefined {
  const text = textOf(component, name)
  return text === undefined ? undefined : cleanLine(text, 1000)
}

function startText(epoch: number, isDate: boolean, zone: Zone): string {
  return isDate ? new Date(zone.toWall(epoch)).toISOString().slice(0, 10) : formatMoment(epoch, zone)
}

function eventLine(event: JsonObject): string {
  const when =
    event.all_day === true ? `${String(event.start)} (all day)` : `${String(event.start)} to ${String(event.end)}`
  const where = event.location === undefined ? "" : `, ${String(event.location)}`
  const repeated = event.recurring === true ? `, repeats ${String(event.recurrence ?? "")}` : ""
  return `${when}: ${String(event.title)}${where}${repeated} [id ${String(event.id)}]`
}

/** A calendar's address is often a secret; messages name its host at most. */
function withoutAddress(error: NetworkError): NetworkError {
  const message = error.message.replace(/https?:\/\/([^/\s]+)\S*/g, "https://$1/…")
  return new NetworkError(error.code as ConstructorParameters<typeof NetworkError>[0], message, {
    retryable: error.retryable,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  })
}

import ICAL, { type Component, type Duration, type Property, type Time } from "ical.js"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { UTC, wallOf, zoneOf, type Zone } from "./zones.ts"

/** A calendar as a tree of components, ready to be read, changed and written back without loss. */
export interface CalendarTree {
  root: Component
  /** Every VCALENDAR of the file; more than one only in files that are joined together. */
  calendars: Component[]
}

/** An event: its main component and the ones that replace single occurrences. */
export interface CalendarEvent {
  id: string
  main: Component
  overrides: Component[]
  calendar: Component
}

/** When a component says it is. An event with a date and no time lasts whole days; `zone` is then the viewer's. */
export interface Span {
  isDate: boolean
  zone: Zone
  startWall: number
  /** Wall time for days, elapsed time otherwise. Milliseconds. */
  length: number
}

const DAY_MS = 86_400_000
export const MAX_EVENTS = 20_000

/** @throws ToolwrightError `INVALID_CALENDAR` */
export function parseCalendar(text: string): CalendarTree {
  try {
    const parsed = ICAL.parse(text.replace(/^\ufeff/, ""))
    const documents = typeof parsed[0] === "string" ? [parsed] : parsed
    const calendars = documents
      .map((document) => new ICAL.Component(document))
      .filter(({ name }) => name === "vcalendar")
    const [root] = calendars
    if (root === undefined) throw new Error("there is no VCALENDAR in it")
    return { root, calendars }
  } catch (cause) {
    throw new ToolwrightError("INVALID_CALENDAR", `The calendar cannot be read: ${messageOf(cause).slice(0, 200)}`, {
      cause,
    })
  }
}

/**
 * Parses a calendar for reading: an event that cannot be parsed loses its recurrence rule, or is left out, and the
 * others stay.
 * Such a tree must not be written back.
 *
 * @param warn told about each event that was mended or left out
 * @throws ToolwrightError `INVALID_CALENDAR` when even that does not help
 */
export function parseTolerantly(text: string, warn: (message: string) => void): CalendarTree {
  try {
    return parseCalendar(text)
  } catch (thrown) {
    let mended = 0
    const warnings: string[] = []
    const rest = mapEvents(text, (block) => {
      if (isParsed(block)) return block
      mended++
      const title = /^SUMMARY[^:\r\n]*:(.*)$/im.exec(block)?.[1]?.trim() ?? "an event"
      const plain = block.replace(/^RRULE[^\n]*\n(?:[ \t][^\n]*\n)*/gim, "")
      const isKept = isParsed(plain)
      warnings.push(
        isKept
          ? `The recurrence of '${title}' is not understood; only its first time is counted.`
          : `'${title}' is not understood and is left out.`,
      )
      return isKept ? plain : ""
    })
    if (mended === 0) throw thrown
    const tree = parseCalendar(rest)
    for (const warning of warnings) warn(warning)
    return tree
  }
}

/** Replaces each event's lines by what `change` makes of them. */
function mapEvents(text: string, change: (block: string) => string): string {
  const parts: string[] = []
  let block: string[] | undefined
  for (const line of text.split(/(?<=\n)/)) {
    if (/^BEGIN:VEVENT\s*$/i.test(line)) block = []
    if (block === undefined) {
      parts.push(line)
      continue
    }
    block.push(line)
    if (!/^END:VEVENT\s*$/i.test(line)) continue
    parts.push(change(block.join("")))
    block = undefined
  }
  return [...parts, ...(block ?? [])].join("")
}

function isParsed(block: string): boolean {
  try {
    ICAL.parse(`BEGIN:VCALENDAR\r\n${block}END:VCALENDAR\r\n`)
    return true
  } catch {
    return false
  }
}

/** All events by their UID, in the file's order. */
export function listEvents(tree: CalendarTree): CalendarEvent[] {
  const events = new Map<string, CalendarEvent>()
  for (const calendar of tree.calendars) {
    for (const component of calendar.getAllSubcomponents("vevent")) {
      if (events.size >= MAX_EVENTS) break
      const uid = component.getFirstPropertyValue("uid")
      const id = typeof uid === "string" && uid !== "" ? uid : `no-uid-${events.size + 1}`
      const known = events.get(id)
      if (known === undefined) events.set(id, { id, main: component, overrides: [], calendar })
      else if (component.getFirstProperty("recurrence-id") !== null) known.overrides.push(component)
      else if (known.main.getFirstProperty("recurrence-id") !== null) {
        known.overrides.push(known.main)
        known.main = component
      }
    }
  }
  return [...events.values()]
}

/** The values of a property; none where they are written wrongly (the library reads them only when asked). */
export function valuesOf(property: Property | null): unknown[] {
  try {
    return property?.getValues() ?? []
  } catch {
    return []
  }
}

/** A time of a property as wall time and zone; `undefined` when there is none or it was written wrongly. */
export function readTime(
  property: Property | null,
  calendar: Component,
  floating: Zone,
  value = valuesOf(property)[0],
): { wall: number; isDate: boolean; zone: Zone } | undefined {
  if (typeof value !== "object" || value === null) return undefined
  const time = ("start" in value ? value.start : value) as Time
  const wall = typeof time.year === "number" ? wallOf(time) : Number.NaN
  if (!Number.isFinite(wall)) return undefined
  const tzid = property?.getParameter("tzid")
  const named = typeof tzid === "string" ? zoneOf(tzid, calendar) : undefined
  return {
    wall,
    isDate: time.isDate,
    zone: time.isDate ? floating : time.zone === ICAL.Timezone.utcTimezone ? UTC : (named ?? floating),
  }
}

/**
 * When an event starts and how long it lasts (RFC 5545 §3.6.1: a date without an end lasts a day, a time without one no
 * time).
 *
 * @param floating zone of times that name none
 * @returns `undefined` when the event has no readable start
 */
export function spanOf(component: Component, calendar: Component, floating: Zone): Span | undefined {
  const start = readTime(component.getFirstProperty("dtstart"), calendar, floating)
  if (start === undefined) return undefined
  const { isDate, zone, wall: startWall } = start
  const end = readTime(component.getFirstProperty("dtend"), calendar, floating)
  const [duration] = valuesOf(component.getFirstProperty("duration")) as (Duration | undefined)[]
  let length = isDate ? DAY_MS : 0
  if (end !== undefined) length = isDate ? end.wall - startWall : end.zone.toEpoch(end.wall) - zone.toEpoch(startWall)
  else if (typeof duration === "object") length = duration.toSeconds() * 1000
  return { isDate, zone, startWall, length: Math.max(length, isDate ? DAY_MS : 0) }
}

/** A text property, or `undefined`. */
export function textOf(component: Component, name: string): string | undefined {
  const [value] = valuesOf(component.getFirstProperty(name))
  return value === null || value === undefined || value === "" ? undefined : String(value)
}

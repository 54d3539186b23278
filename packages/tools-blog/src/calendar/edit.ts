import { randomUUID } from "node:crypto"
import ICAL, { type Component } from "ical.js"
import { messageOf, ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { RRuleTemporal } from "rrule-temporal"
import { cleanText } from "@toolwright/host/net"
import { listEvents, parseCalendar, parseTolerantly, spanOf, type CalendarEvent, type CalendarTree } from "./events.ts"
import { parseTime } from "./moments.ts"
import { timeOf, type Zone } from "./zones.ts"

const EMPTY = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//toolwright//calendar//EN\r\nEND:VCALENDAR\r\n"
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/**
 * The tree of a calendar's text, to be changed; an empty text is an empty calendar. @throws ToolwrightError
 * `INVALID_CALENDAR`
 */
export function treeOf(text: string): CalendarTree {
  return parseCalendar(text.trim() === "" ? EMPTY : text)
}

/** The tree of a calendar's text, only to be read. @throws ToolwrightError `INVALID_CALENDAR` */
export function readableTreeOf(text: string, warn: (message: string) => void): CalendarTree {
  return text.trim() === "" ? parseCalendar(EMPTY) : parseTolerantly(text, warn)
}

/** A calendar as text; everything that was not changed is as it was. */
export function print(tree: CalendarTree): string {
  return `${tree.calendars.map(String).join("\r\n")}\r\n`
}

/** @throws ToolwrightError `EVENT_NOT_FOUND` */
export function findEvent(tree: CalendarTree, id: string): CalendarEvent {
  const event = listEvents(tree).find((one) => one.id === id)
  if (event !== undefined) return event
  throw new ToolwrightError("EVENT_NOT_FOUND", `There is no event with the id '${id.slice(0, 200)}'.`, {
    hint: 'Take the id from a list: {"action": "list_events", "query": "words of its title"}',
  })
}

/**
 * Adds an event.
 *
 * @param zone zone of the times in `args`; the event is kept in it, with the rules of its daylight saving time beside
 *   it
 * @throws ToolwrightError `INVALID_TIME`, `INVALID_RECURRENCE`
 */
export function addEvent(tree: CalendarTree, args: JsonObject, zone: Zone, now: number): CalendarEvent {
  const component = new ICAL.Component("vevent")
  component.addPropertyWithValue("uid", `${randomUUID()}@toolwright`)
  component.addPropertyWithValue("created", stamp(now))
  const event = {
    id: String(component.getFirstPropertyValue("uid")),
    main: component,
    overrides: [],
    calendar: tree.root,
  }
  apply(event, args, zone, now)
  tree.root.addSubcomponent(component)
  return event
}

/** Changes what `args` names of an event. @throws ToolwrightError as {@link addEvent} does */
export function changeEvent(event: CalendarEvent, args: JsonObject, zone: Zone, now: number): void {
  apply(event, args, zone, now)
  event.main.updatePropertyWithValue("sequence", Number(event.main.getFirstPropertyValue("sequence") ?? 0) + 1)
}

/** Removes an event with everything that replaces single times of it. */
export function removeEvent(event: CalendarEvent): void {
  for (const component of [event.main, ...event.overrides]) event.calendar.removeSubcomponent(component)
}

/** Takes one time out of a recurring event. */
export function excludeOccurrence(
  event: CalendarEvent,
  startWall: number,
  zone: Zone,
  isDate: boolean,
  now: number,
): void {
  const property = new ICAL.Property("exdate")
  setTime(property, event.calendar, startWall, isDate, zone)
  event.main.addProperty(property)
  event.main.updatePropertyWithValue("dtstamp", stamp(now))
}

function apply(event: CalendarEvent, args: JsonObject, zone: Zone, now: number): void {
  const { main, calendar } = event
  if (args.start !== undefined || args.end !== undefined || args.duration_minutes !== undefined)
    applyTimes(event, args, zone)
  for (const [argument, name] of [
    ["title", "summary"],
    ["location", "location"],
    ["description", "description"],
    ["status", "status"],
  ] as const) {
    if (args[argument] === undefined) continue
    const text = cleanText(String(args[argument]))
    if (text === "") main.removeAllProperties(name)
    else main.updatePropertyWithValue(name, text)
  }
  if (args.recurrence !== undefined) {
    main.removeAllProperties("rrule")
    const rule = String(args.recurrence)
      .trim()
      .replace(/^RRULE:/i, "")
    if (rule !== "") main.addPropertyWithValue("rrule", ICAL.Recur.fromString(checkedRule(rule)))
  }
  main.updatePropertyWithValue("dtstamp", stamp(now))
  main.updatePropertyWithValue("last-modified", stamp(now))
  if (spanOf(main, calendar, zone) === undefined) throw new ToolwrightError("INVALID_TIME", "The event has no start.")
}

function applyTimes(event: CalendarEvent, args: JsonObject, zone: Zone): void {
  const { main, calendar } = event
  const { isDate, startWall, before, kept } = askedStart(event, args, zone)
  const startEpoch = kept.toEpoch(startWall)
  const asked = askedLength(args, zone, { isDate, startWall, startEpoch })
  const length = asked ?? usualLength(isDate, before)
  if (length <= 0) {
    throw new ToolwrightError("INVALID_TIME", "The event would end before it starts.", {
      hint: "Give an end after start, or duration_minutes.",
    })
  }
  const endWall = isDate ? startWall + length : kept.toWall(startEpoch + length)
  main.removeAllProperties("duration")
  for (const [name, wall] of [
    ["dtstart", startWall],
    ["dtend", endWall],
  ] as const) {
    main.removeAllProperties(name)
    const property = new ICAL.Property(name)
    setTime(property, calendar, wall, isDate, kept)
    main.addProperty(property)
  }
}

/** When an event is to start: as the call says, in its zone, else as before, in the zone that it has. */
function askedStart({ main, calendar }: CalendarEvent, args: JsonObject, zone: Zone) {
  const before = main.getFirstProperty("dtstart") === null ? undefined : spanOf(main, calendar, zone)
  if (typeof args.start === "string") {
    const { isDate, wall } = parseTime(args.start, zone, "start")
    return { isDate, startWall: wall, before, kept: zone }
  }
  if (before === undefined) return { isDate: false, startWall: 0, before, kept: zone }
  return { isDate: before.isDate, startWall: before.startWall, before, kept: before.zone }
}

/** As long as before, else a day or an hour. */
function usualLength(isDate: boolean, before: { isDate: boolean; length: number } | undefined): number {
  if (before !== undefined && before.isDate === isDate) return before.length
  return isDate ? DAY_MS : HOUR_MS
}

/** How long an event is to last, in milliseconds; undefined where nothing says so. */
function askedLength(
  args: JsonObject,
  zone: Zone,
  { isDate, startWall, startEpoch }: { isDate: boolean; startWall: number; startEpoch: number },
): number | undefined {
  if (typeof args.end === "string") {
    const end = parseTime(args.end, zone, "end")
    if (end.isDate !== isDate)
      throw new ToolwrightError("INVALID_TIME", "start and end must both be days, or both be times.")
    return isDate ? end.wall - startWall : end.epoch - startEpoch
  }
  if (args.duration_minutes === undefined) return undefined
  const length = Number(args.duration_minutes) * 60_000
  return isDate ? Math.ceil(length / DAY_MS) * DAY_MS : length
}

function setTime(
  property: InstanceType<typeof ICAL.Property>,
  calendar: Component,
  wall: number,
  isDate: boolean,
  zone: Zone,
): void {
  if (isDate) {
    property.resetType("date")
    property.setValue(timeOf(wall, true))
  } else if (zone.id === undefined || zone.id === "UTC") {
    property.setValue(utcTime(zone.toEpoch(wall)))
  } else {
    property.setValue(timeOf(wall))
    property.setParameter("tzid", zone.id)
    usedZones.set(calendar, (usedZones.get(calendar) ?? new Set()).add(zone.id))
  }
}

/** Zones that were written into a calendar and may still lack their rules there. */
const usedZones = new WeakMap<Component, Set<string>>()

/** Adds the VTIMEZONE that each used zone needs (RFC 5545 §3.6.5), so that other programs show the right time. */
export async function addMissingZones(tree: CalendarTree): Promise<void> {
  for (const calendar of tree.calendars) {
    const known = new Set(calendar.getAllSubcomponents("vtimezone").map((zone) => zone.getFirstPropertyValue("tzid")))
    for (const id of usedZones.get(calendar) ?? []) {
      if (known.has(id)) continue
      const { tzlib_get_ical_block: blockOf } = await import("timezones-ical-library")
      const [block] = [blockOf(id)].flat()
      if (block !== undefined && block.startsWith("BEGIN:VTIMEZONE"))
        calendar.addSubcomponent(new ICAL.Component(ICAL.parse(block)))
    }
  }
}

/** @throws ToolwrightError `INVALID_RECURRENCE` */
function checkedRule(rule: string): string {
  try {
    if (!/^[A-Z0-9=;,:+-]+$/i.test(rule)) throw new Error("it holds characters that no rule has")
    const checked = new RRuleTemporal({ rruleString: `DTSTART;TZID=UTC:20260101T090000\nRRULE:${rule.toUpperCase()}` })
    checked.options()
    return rule.toUpperCase()
  } catch (cause) {
    throw new ToolwrightError(
      "INVALID_RECURRENCE",
      `recurrence: '${rule.slice(0, 100)}' is no recurrence rule (${messageOf(cause)}).`,
      {
        cause,
        hint: "Write it as in FREQ=WEEKLY;BYDAY=MO,WE or FREQ=MONTHLY;COUNT=6 or FREQ=DAILY;UNTIL=20270101T000000Z.",
      },
    )
  }
}

function stamp(now: number) {
  return utcTime(Math.floor(now / 1000) * 1000)
}

function utcTime(epoch: number) {
  const time = timeOf(epoch)
  time.zone = ICAL.Timezone.utcTimezone
  return time
}

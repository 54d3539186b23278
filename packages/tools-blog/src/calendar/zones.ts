import ICAL, { type Component, type Time } from "ical.js"
import { Temporal } from "temporal-polyfill"

/**
 * A time zone. Wall time is counted in milliseconds as if it were UTC: `Date.UTC(2026, 9, 25, 9)` is nine o'clock
 * there. A wall time that does not exist is moved forward, one that exists twice is the earlier (as RFC 5545 §3.3.5
 * says).
 */
export interface Zone {
  /** Name in the IANA database, where it has one. */
  readonly id: string | undefined
  toEpoch(wall: number): number
  toWall(epoch: number): number
}

export const UTC: Zone = { id: "UTC", toEpoch: (wall) => wall, toWall: (epoch) => epoch }

const known = new Map<string, Zone | undefined>()
const MAX_KNOWN = 2000

/** The zone of this name in the IANA database, or `undefined`. */
export function namedZone(id: string): Zone | undefined {
  if (!known.has(id)) {
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(id, findZone(id))
  }
  return known.get(id)
}

function findZone(id: string): Zone | undefined {
  if (id === "UTC" || id === "Etc/UTC") return UTC
  if (/^[+-]?\d/.test(id)) return undefined
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(id)
  } catch {
    return undefined
  }
  return {
    id,
    toEpoch: (wall) =>
      Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO("UTC").toPlainDateTime().toZonedDateTime(id)
        .epochMilliseconds,
    toWall: (epoch) =>
      epoch + Temporal.Instant.fromEpochMilliseconds(epoch).toZonedDateTimeISO(id).offsetNanoseconds / 1e6,
  }
}

/** The time zone of this machine, for when nothing else says one. */
export function systemZone(): Zone {
  return namedZone(Intl.DateTimeFormat().resolvedOptions().timeZone) ?? UTC
}

/**
 * Finds what a TZID means: a name of the IANA database (also at the end of a longer one, as some programs write it), or
 * else the rules that the calendar itself gives in a VTIMEZONE (as Outlook does: "W. Europe Standard Time").
 */
export function zoneOf(tzid: string, calendar: Component): Zone | undefined {
  const direct = namedZone(tzid) ?? namedZone(tzid.split("/").slice(-2).join("/"))
  if (direct !== undefined) return direct
  const component = calendar.getAllSubcomponents("vtimezone").find((one) => one.getFirstPropertyValue("tzid") === tzid)
  if (component === undefined) return undefined
  const location = component.getFirstPropertyValue("x-lic-location")
  return (typeof location === "string" ? namedZone(location) : undefined) ?? zoneFromRules(component)
}

function zoneFromRules(component: Component): Zone {
  const timezone = new ICAL.Timezone(component)
  const offset = (wall: number) => timezone.utcOffset(timeOf(wall)) * 1000
  return {
    id: undefined,
    toEpoch: (wall) => wall - offset(wall),
    toWall: (epoch) => {
      const guess = epoch + offset(epoch)
      return epoch + offset(guess)
    },
  }
}

/** A wall time as the library's own kind of time. */
export function timeOf(wall: number, isDate = false): Time {
  const date = new Date(wall)
  const day = { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
  if (isDate) return ICAL.Time.fromData({ ...day, isDate: true })
  return ICAL.Time.fromData({
    ...day,
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    second: date.getUTCSeconds(),
  })
}

/** The library's time as a wall time; NaN when it was written wrongly. */
export function wallOf(time: Time): number {
  return Date.UTC(
    time.year,
    time.month - 1,
    time.day,
    time.isDate ? 0 : time.hour,
    time.isDate ? 0 : time.minute,
    time.isDate ? 0 : time.second,
  )
}

/** A moment as ISO 8601 with the zone's offset, to the second. */
export function formatMoment(epoch: number, zone: Zone): string {
  const wall = zone.toWall(epoch)
  const minutes = Math.round((wall - epoch) / 60_000)
  const text = new Date(wall).toISOString().slice(0, 19)
  if (minutes === 0) return `${text}Z`
  const size = Math.abs(minutes)
  const two = (value: number) => String(value).padStart(2, "0")
  return `${text}${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

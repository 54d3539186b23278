import type { Component } from "ical.js"
import { messageOf } from "@toolwright/toolbox"
import { RRuleTemporal } from "rrule-temporal"
import { Temporal } from "temporal-polyfill"
import { readTime, spanOf, textOf, valuesOf, type CalendarEvent, type Span } from "./events.ts"
import { UTC, type Zone } from "./zones.ts"

/**
 * One time that an event takes place. `component` is the one that says how: the event's own, or one that replaces it.
 */
export interface Occurrence {
  event: CalendarEvent
  component: Component
  span: Span
  startWall: number
  start: number
  end: number
  isRecurring: boolean
}

export interface ExpandLimits {
  /** Most occurrences of one event. */
  perEvent: number
  /** Told about what could not be expanded or was cut short. */
  warn(message: string): void
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * The occurrences of an event that overlap a window: its own start, RRULE, RDATE, less EXDATE, with the ones that a
 * RECURRENCE-ID replaces. Rules are worked out in wall time and turned into moments after that, so that nine o'clock
 * stays nine o'clock over changes of daylight saving time; a rule without an end costs only what lies in the window.
 */
export function expandEvent(
  event: CalendarEvent,
  from: number,
  to: number,
  floating: Zone,
  limits: ExpandLimits,
): Occurrence[] {
  const span = spanOf(event.main, event.calendar, floating)
  if (span === undefined) {
    limits.warn(`'${textOf(event.main, "summary") ?? event.id}' has no readable start and is left out.`)
    return []
  }
  const rule = textOf(event.main, "rrule")
  const isRecurring = rule !== undefined || event.main.getFirstProperty("rdate") !== null
  const excluded = excludedTimes(event, span, floating)
  const replaced = new Map<number, Component>()
  for (const component of event.overrides) {
    const time = readTime(component.getFirstProperty("recurrence-id"), event.calendar, floating)
    if (time !== undefined) replaced.set(time.zone.toEpoch(time.wall), component)
  }
  const occurrences: Occurrence[] = []
  const add = (component: Component, of: Span, startWall: number) => {
    const start = of.zone.toEpoch(startWall)
    const end = of.isDate ? of.zone.toEpoch(startWall + of.length) : start + of.length
    const overlaps = end > start ? start < to && end > from : start >= from && start < to
    if (overlaps) occurrences.push({ event, component, span: of, startWall, start, end, isRecurring })
  }
  for (const wall of startWalls(event, { span, rule, from, to, floating, limits })) {
    const epoch = span.zone.toEpoch(wall)
    if (!excluded.has(epoch) && !replaced.has(epoch)) add(event.main, span, wall)
  }
  for (const component of replaced.values()) {
    const own = spanOf(component, event.calendar, floating)
    if (own !== undefined) add(component, own, own.startWall)
  }
  return occurrences.sort((one, other) => one.start - other.start)
}

interface Recurrence {
  span: Span
  rule: string | undefined
  from: number
  to: number
  floating: Zone
  limits: ExpandLimits
}

function startWalls(event: CalendarEvent, { span, rule, from, to, floating, limits }: Recurrence): Set<number> {
  const walls = new Set<number>(event.main.getFirstProperty("recurrence-id") === null ? [span.startWall] : [])
  for (const property of event.main.getAllProperties("rdate")) {
    for (const value of valuesOf(property)) {
      const time = readTime(property, event.calendar, floating, value)
      if (time !== undefined) walls.add(span.isDate ? time.wall : span.zone.toWall(time.zone.toEpoch(time.wall)))
    }
  }
  if (rule === undefined) return walls
  const title = textOf(event.main, "summary") ?? event.id
  try {
    // The widest offset between wall time and UTC is fourteen hours, so that a day on each side is enough.
    const window = { first: from - span.length - DAY_MS, last: to + DAY_MS }
    const { found, isCut } = recur(rule, span, window, limits.perEvent)
    for (const wall of found) walls.add(wall)
    if (isCut)
      limits.warn(`'${title}' recurs more than ${limits.perEvent} times in this window; only the first are counted.`)
  } catch (thrown) {
    limits.warn(
      `The recurrence of '${title}' is not understood (${messageOf(thrown).slice(0, 120)}); only its first ` +
        "time is counted.",
    )
  }
  return walls
}

/**
 * Walks through a window in steps that grow while little is found, so that a rule of every second costs no more than
 * the limit.
 */
function recur(
  rule: string,
  span: Span,
  window: { first: number; last: number },
  limit: number,
): { found: number[]; isCut: boolean } {
  const stamp = (wall: number) => `${new Date(wall).toISOString().replace(/[-:]|\.\d+Z/g, "")}`
  const rules = new RRuleTemporal({
    rruleString: `DTSTART;TZID=UTC:${stamp(span.startWall)}\nRRULE:${withWallUntil(rule, span)}`,
    temporal: Temporal as unknown as NonNullable<ConstructorParameters<typeof RRuleTemporal>[0]["temporal"]>,
    cache: false,
    maxIterations: 100_000,
  })
  const found: number[] = []
  let step = /SECONDLY|BYSECOND/.test(rule) ? HOUR_MS / 12 : /MINUTELY|BYMINUTE/.test(rule) ? 6 * HOUR_MS : 31 * DAY_MS
  let at = Math.max(window.first, span.startWall - 1)
  while (at <= window.last) {
    const next = Math.min(at + step, window.last + 1)
    const batch = rules.between(new Date(at), new Date(next - 1), true)
    for (const time of batch) {
      if (found.length >= limit) return { found, isCut: true }
      found.push(Date.parse(time.toString().replace(/\[.*$/, "")))
    }
    if (batch.length < limit / 4) step *= 2
    at = next
  }
  return { found, isCut: false }
}

/**
 * UNTIL is a moment in UTC where the start has a zone (RFC 5545 §3.3.10); here it must be wall time too. A date means
 * its whole day.
 */
function withWallUntil(rule: string, span: Span): string {
  return rule.replace(
    /UNTIL=(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?/i,
    (...[, year, month, day, hour = 23, minute = 59, second = 59, utc]) => {
      const [years, months, days, ...time] = [year, month, day, hour, minute, second].map(Number)
      const written = Date.UTC(years!, months! - 1, days, ...time)
      const wall = utc === "Z" && !span.isDate ? span.zone.toWall(written) : written
      return `UNTIL=${new Date(wall).toISOString().replace(/[-:]|\.\d+/g, "")}`
    },
  )
}

/** Moments that EXDATE takes out; a date takes out the occurrence that starts on that day. */
function excludedTimes(event: CalendarEvent, span: Span, floating: Zone): { has(epoch: number): boolean } {
  const moments = new Set<number>()
  const days = new Set<number>()
  for (const property of event.main.getAllProperties("exdate")) {
    for (const value of valuesOf(property)) {
      const time = readTime(property, event.calendar, floating, value)
      if (time === undefined) continue
      if (time.isDate) days.add(time.wall)
      else moments.add(time.zone.toEpoch(time.wall))
    }
  }
  const dayOf = (epoch: number) => {
    const wall = (span.isDate ? floating : (span.zone ?? UTC)).toWall(epoch)
    return wall - (((wall % DAY_MS) + DAY_MS) % DAY_MS)
  }
  return { has: (epoch) => moments.has(epoch) || (days.size > 0 && days.has(dayOf(epoch))) }
}

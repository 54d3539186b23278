import { ToolwrightError } from "@toolwright/toolbox"
import type { Zone } from "./zones.ts"

/** A time that a model wrote: a day, or a moment. `wall` is its wall time in `zone` (see {@link Zone}). */
export interface GivenTime {
  isDate: boolean
  wall: number
  epoch: number
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const LOCAL = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?$/
const MOMENT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)\s*([Zz]|[+-]\d{2}:?\d{2})$/

/**
 * Reads a day (`2026-11-23`), a wall time in the given zone (`2026-11-23T09:00`), or a moment
 * (`2026-11-23T09:00:00+01:00`).
 *
 * @throws ToolwrightError `INVALID_TIME`
 */
export function parseTime(text: string, zone: Zone, argument: string): GivenTime {
  const trimmed = text.trim()
  const day = DAY.exec(trimmed)
  const local = LOCAL.exec(trimmed)
  const moment = MOMENT.exec(trimmed)
  if (day !== null || local !== null) {
    const [, year, month, date, hour = 0, minute = 0, second = 0] = (day ?? local) as RegExpExecArray
    const wall = Date.UTC(Number(year), Number(month) - 1, Number(date), Number(hour), Number(minute), Number(second))
    const back = new Date(wall)
    const isReal =
      back.getUTCMonth() === Number(month) - 1 &&
      back.getUTCDate() === Number(date) &&
      Number(hour) < 24 &&
      Number(minute) < 60
    if (isReal) return { isDate: day !== null, wall, epoch: zone.toEpoch(wall) }
  } else if (moment !== null) {
    const offset = (moment[3] as string).toUpperCase()
    const epoch = Date.parse(
      `${moment[1]}T${moment[2]}` +
        (offset === "Z" || offset.includes(":") ? offset : `${offset.slice(0, 3)}:${offset.slice(3)}`),
    )
    if (Number.isFinite(epoch)) return { isDate: false, wall: zone.toWall(epoch), epoch }
  }
  throw new ToolwrightError("INVALID_TIME", `${argument}: '${text.slice(0, 60)}' is no time.`, {
    hint: "Write 2026-11-23 for a day, 2026-11-23T09:00 for a time in time_zone, or 2026-11-23T09:00:00+01:00.",
  })
}

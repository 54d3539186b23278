/** Whole numbers within bounds, the common case, without big integers. */
import type { NumberSet } from "../schema/types.ts"
import { createLexeme, type Lexeme } from "./lexeme.ts"

interface Interval {
  readonly low: number
  readonly high: number
  readonly step: number
}

/** Beyond this, whole numbers in a double are no longer all told apart. */
const SAFE = 1e14

/** @returns undefined where the sets are not whole numbers within bounds that doubles can hold */
export function integerLexeme(sets: readonly NumberSet[]): Lexeme | undefined {
  const intervals: Interval[] = []
  for (const set of sets) {
    const interval = intervalOf(set)
    if (interval === undefined) return undefined
    intervals.push(interval)
  }
  return lexemeOf(intervals)
}

function intervalOf({ low, high, step, notSteps }: NumberSet): Interval | undefined {
  if (step === undefined || step.scale > 0 || step.digits > 1_000_000n || notSteps.length > 0) return undefined
  const values = [low, high].map((bound) => (bound === undefined ? undefined : Number(bound.value.digits) / 10 ** bound.value.scale))
  if (values.some((value) => value !== undefined && !(Math.abs(value) < SAFE))) return undefined
  const [least, most] = values
  return {
    low: least === undefined ? -Infinity : low!.open && Number.isInteger(least) ? least + 1 : Math.ceil(least),
    high: most === undefined ? Infinity : high!.open && Number.isInteger(most) ? most - 1 : Math.floor(most),
    step: Number(step.digits),
  }
}

/** The number so far: its digits, or -1 before the first; and its sign. */
interface State {
  readonly digits: number
  readonly sign: 1 | -1
  readonly begun: boolean
  /** Where any so many further digits may follow and no more: that number. What the digits were no longer matters. */
  readonly free: number | undefined
}

/** Further digits are looked at so far; nothing longer is told apart. */
const FAR = 18

function lexemeOf(intervals: readonly Interval[]): Lexeme {
  const bounds = intervals.flatMap(({ low, high }) => [low, high]).filter(Number.isFinite).map(Math.abs)
  const period = intervals.reduce((product, { step }) => commonMultiple(product, step), 1)
  const beyond = Math.max(1, ...bounds) + 1

  /** Long numbers are told apart only as far as steps ask. */
  const clip = (digits: number): number => (digits < beyond + period ? digits : beyond + ((digits - beyond) % period))
  const has = (value: number): boolean => intervals.some(({ low, high, step }) => value >= low && value <= high && value % step === 0)

  function canComplete({ digits, sign, begun, free }: State): boolean {
    if (free !== undefined) return true
    if (!begun) return intervals.some(({ low, high }) => (sign === 1 ? high >= low : low <= 0))
    if (digits === 0) return has(0)
    for (let width = 1; width < 1e16; width *= 10) {
      if (intervals.some((interval) => meets(interval, digits * width, digits * width + width - 1, sign))) return true
    }
    return false
  }

  const only = intervals.length === 1 && intervals[0]!.step === 1 ? intervals[0] : undefined

  /** The state after so many digits, with the digits themselves forgotten where they no longer matter. */
  function settle(state: State): State {
    const { digits, sign, free } = state
    if (only === undefined || free !== undefined || digits <= 0) return state
    let left = -1
    for (let width = 1; left < FAR; width *= 10) {
      const [least, most] = sign === 1 ? [digits * width, (digits + 1) * width - 1] : [1 - (digits + 1) * width, -digits * width]
      if (least >= only.low && most <= only.high) left++
      else if (most < only.low || least > only.high) break
      else return state
    }
    return left < 0 ? state : { digits: 1, sign: 1, begun: true, free: left === FAR ? Infinity : left }
  }

  return createLexeme<State>({
    start: { digits: -1, sign: 1, begun: false, free: undefined },
    step(state, byte) {
      if (byte === 0x2d) {
        if (state.begun || state.sign === -1) return undefined
        const next: State = { ...state, sign: -1 }
        return canComplete(next) ? next : undefined
      }
      const digit = byte - 0x30
      if (digit < 0 || digit > 9 || state.digits === 0) return undefined
      if (state.free !== undefined) return state.free > 0 ? { ...state, free: state.free - 1 } : undefined
      const next: State = { ...state, digits: clip(state.begun ? state.digits * 10 + digit : digit), begun: true }
      return canComplete(next) ? settle(next) : undefined
    },
    outcome: ({ digits, sign, begun, free }) => (free !== undefined || (begun && has(sign * digits)) ? 0 : -1),
    key: ({ digits, sign, begun, free }) => (free !== undefined ? `free${free}` : begun ? (digits + 1) * sign : sign === 1 ? "+" : "-"),
    bytes: ({ digits }) => (digits === 0 ? [] : BYTES),
  })
}

const BYTES = [0x2d, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39]

/** Whether a multiple of the step is in the interval and, apart from the sign, between the two. */
function meets({ low, high, step }: Interval, from: number, to: number, sign: 1 | -1): boolean {
  const least = Math.max(low, sign === 1 ? from : -to)
  const most = Math.min(high, sign === 1 ? to : -from)
  return least <= most && Math.floor(most / step) >= Math.ceil(least / step)
}

function commonMultiple(a: number, b: number): number {
  let [x, y] = [a, b]
  while (y !== 0) [x, y] = [y, x % y]
  return (a / x) * b
}

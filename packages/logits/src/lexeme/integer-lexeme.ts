/** Whole numbers within bounds, the common case: few states, and no fractions to think of. */
import type { Bound, NumberSet } from "../schema/types.ts"
import { createLexeme, type Lexeme } from "./lexeme.ts"

/** Undefined where there is no bound. */
interface Interval {
  readonly low: bigint | undefined
  readonly high: bigint | undefined
  readonly step: bigint
}

/** Steps beyond this would need as many states. */
const MAX_STEP = 1_000_000n

/** @returns undefined where the sets are not whole numbers within bounds */
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
  if (step === undefined || step.scale > 0 || step.digits > MAX_STEP || notSteps.length > 0) return undefined
  return {
    low: low === undefined ? undefined : wholeAbove(low),
    high: high === undefined ? undefined : -wholeAbove(negated(high)),
    step: step.digits,
  }
}

const negated = ({ value, open }: Bound): Bound => ({ value: { digits: -value.digits, scale: value.scale }, open })

/** The least whole number that a lower bound allows. */
function wholeAbove({ value, open }: Bound): bigint {
  const unit = 10n ** BigInt(value.scale)
  const floor = value.digits >= 0n ? value.digits / unit : -((-value.digits + unit - 1n) / unit)
  const exact = floor * unit === value.digits
  return exact && !open ? floor : floor + 1n
}

/** The number so far: its digits, or -1 before the first; and its sign. */
interface State {
  readonly digits: bigint
  readonly negative: boolean
  readonly begun: boolean
  /** Where any so many further digits may follow and no more: that number. What the digits were no longer matters. */
  readonly free: number | undefined
}

/** Further digits are looked at so far; nothing longer is told apart. */
const FAR = 24

function lexemeOf(intervals: readonly Interval[]): Lexeme {
  const bounds = intervals
    .flatMap(({ low, high }) => [low ?? 0n, high ?? 0n])
    .map((bound) => (bound < 0n ? -bound : bound))
  const beyond = bounds.reduce((most, bound) => (bound > most ? bound : most), 1n) + 1n
  const period = intervals.reduce((product, { step }) => commonMultiple(product, step), 1n)
  const only = intervals.length === 1 && intervals[0]!.step === 1n ? intervals[0] : undefined

  /** Long numbers are told apart only as far as steps ask. */
  const clip = (digits: bigint): bigint => (digits < beyond + period ? digits : beyond + ((digits - beyond) % period))
  const has = (value: bigint): boolean =>
    intervals.some((interval) => contains(interval, value) && value % interval.step === 0n)

  function canComplete({ digits, negative, begun, free }: State): boolean {
    if (free !== undefined) return true
    if (!begun) return intervals.some(({ low }) => !negative || low === undefined || low <= 0n)
    if (digits === 0n) return has(0n)
    let width = 1n
    for (let more = 0; more <= FAR; more++, width *= 10n) {
      if (intervals.some((interval) => meets(interval, digits * width, (digits + 1n) * width - 1n, negative)))
        return true
    }
    return false
  }

  /** The state after so many digits, with the digits themselves forgotten where they no longer matter. */
  function settle(state: State): State {
    const { digits, negative, free } = state
    if (only === undefined || free !== undefined || digits <= 0n) return state
    let left = -1
    let width = 1n
    for (; left < FAR; width *= 10n) {
      const [from, to] = [digits * width, (digits + 1n) * width - 1n]
      const [least, most] = negative ? [-to, -from] : [from, to]
      if (contains(only, least) && contains(only, most)) left++
      else if ((only.low !== undefined && most < only.low) || (only.high !== undefined && least > only.high)) break
      else return state
    }
    return left < 0 ? state : { digits: 1n, negative: false, begun: true, free: left === FAR ? Infinity : left }
  }

  return createLexeme<State>({
    start: { digits: -1n, negative: false, begun: false, free: undefined },
    step(state, byte) {
      if (byte === 0x2d) {
        if (state.begun || state.negative) return undefined
        const next: State = { ...state, negative: true }
        return canComplete(next) ? next : undefined
      }
      const digit = byte - 0x30
      if (digit < 0 || digit > 9 || state.digits === 0n) return undefined
      if (state.free !== undefined) return state.free > 0 ? { ...state, free: state.free - 1 } : undefined
      const next: State = {
        ...state,
        digits: clip(state.begun ? state.digits * 10n + BigInt(digit) : BigInt(digit)),
        begun: true,
      }
      return canComplete(next) ? settle(next) : undefined
    },
    outcome: ({ digits, negative, begun, free }) =>
      free !== undefined || (begun && has(negative ? -digits : digits)) ? 0 : -1,
    key: ({ digits, negative, begun, free }) =>
      free !== undefined ? `free${free}` : `${begun}${negative ? "-" : ""}${digits}`,
    bytes: ({ digits }) => (digits === 0n ? [] : BYTES),
  })
}

const BYTES = [0x2d, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39]

const contains = ({ low, high }: Interval, value: bigint): boolean =>
  (low === undefined || value >= low) && (high === undefined || value <= high)

/** Whether a multiple of the step is in the interval and, apart from the sign, between the two. */
function meets({ low, high, step }: Interval, from: bigint, to: bigint, negative: boolean): boolean {
  const [first, last] = negative ? [-to, -from] : [from, to]
  const least = low !== undefined && low > first ? low : first
  const most = high !== undefined && high < last ? high : last
  if (least > most) return false
  const above = least % step === 0n ? least : least > 0n ? least + step - (least % step) : least - (least % step)
  return above <= most
}

function commonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return (a / x) * b
}

/** Sets of numbers: meet, complement, emptiness. */
import { commonMultiple, compareDecimals, isMultiple, nearestFactor, times, type Decimal } from "./decimal.ts"
import { ANY_NUMBER, type Bound, type NumberSet } from "./types.ts"

export function meetNumbers(a: NumberSet, b: NumberSet): NumberSet | undefined {
  const low = tighter(a.low, b.low, 1)
  const high = tighter(a.high, b.high, -1)
  const step = a.step === undefined ? b.step : b.step === undefined ? a.step : commonMultiple(a.step, b.step)
  const grounded = a.grounded ?? b.grounded
  const set: NumberSet = {
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
    ...(step === undefined ? {} : { step }),
    notSteps: [...a.notSteps, ...b.notSteps],
    ...(a.plain === true || b.plain === true ? { plain: true } : {}),
    ...(grounded === undefined ? {} : { grounded }),
  }
  return hasNumbers(set) ? set : undefined
}

function tighter(a: Bound | undefined, b: Bound | undefined, sign: 1 | -1): Bound | undefined {
  if (a === undefined || b === undefined) return a ?? b
  const order = compareDecimals(a.value, b.value) * sign
  if (order === 0) return a.open ? a : b
  return order > 0 ? a : b
}

export function complementNumbers(set: NumberSet): NumberSet[] {
  const result: NumberSet[] = []
  if (set.low !== undefined) result.push({ ...ANY_NUMBER, high: { value: set.low.value, open: !set.low.open } })
  if (set.high !== undefined) result.push({ ...ANY_NUMBER, low: { value: set.high.value, open: !set.high.open } })
  if (set.step !== undefined) result.push({ notSteps: [set.step] })
  for (const step of set.notSteps) result.push({ step, notSteps: [] })
  return result
}

export function containsNumber(set: NumberSet, value: Decimal): boolean {
  return (
    aboveLow(set.low, value) &&
    belowHigh(set.high, value) &&
    (set.step === undefined || isMultiple(value, set.step)) &&
    set.notSteps.every((step) => !isMultiple(value, step))
  )
}

function aboveLow(low: Bound | undefined, value: Decimal): boolean {
  if (low === undefined) return true
  const order = compareDecimals(value, low.value)
  return order > 0 || (order === 0 && !low.open)
}

function belowHigh(high: Bound | undefined, value: Decimal): boolean {
  if (high === undefined) return true
  const order = compareDecimals(value, high.value)
  return order < 0 || (order === 0 && !high.open)
}

/**
 * Whether the set has a member. Multiples are counted out one after the other where some steps are excluded: those that
 * are not excluded come round with a period, and a period is soon through.
 */
export function hasNumbers(set: NumberSet): boolean {
  const { low, high, step, notSteps } = set
  if (step === undefined) return low === undefined || high === undefined || hasBetween(set, low, high)
  if (notSteps.some((not) => isMultiple(step, not))) return false
  const [open, endless] = [low === undefined || high === undefined, low === undefined && high === undefined]
  return endless || (open && notSteps.length === 0) || countsOut(set, step)
}

/** A line of any length has members that are multiples of none of finitely many steps. */
function hasBetween(set: NumberSet, low: Bound, high: Bound): boolean {
  const order = compareDecimals(low.value, high.value)
  return order < 0 || (order === 0 && containsNumber(set, low.value))
}

function countsOut(set: NumberSet, step: Decimal): boolean {
  const { low, high } = set
  const first = low === undefined ? nearestFactor(high!.value, step, false) : nearestFactor(low.value, step, true)
  const direction = low === undefined ? -1n : 1n
  for (let count = 0n; count < 10_000n; count++) {
    const value = times(first + direction * count, step)
    if (low !== undefined && !belowHigh(high, value)) return false
    if (containsNumber(set, value)) return true
  }
  return true
}

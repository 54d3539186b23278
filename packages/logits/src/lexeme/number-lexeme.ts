/** Numbers as lexemes: the decimal texts of a union of number sets. */
import { compareDecimals, decimal } from "../schema/decimal.ts"
import { containsNumber, meetNumbers } from "../schema/numbers.ts"
import { ANY_NUMBER, type NumberSet } from "../schema/types.ts"
import { integerLexeme } from "./integer-lexeme.ts"
import { listedNumbers } from "./listed-numbers.ts"
import { createLexeme, type Lexeme } from "./lexeme.ts"

/** The last three: any further digits are allowed, and what came before no longer matters. */
type Phase =
  | "start"
  | "minus"
  | "zero"
  | "whole"
  | "point"
  | "fraction"
  | "e"
  | "sign"
  | "exponent"
  | "free"
  | "free-point"
  | "free-fraction"

interface State {
  readonly phase: Phase
  readonly negative: boolean
  /** All digits so far, without the point. */
  readonly digits: bigint
  /** How many of them stand behind the point. */
  readonly scale: number
  /** The exponent so far: its sign, how many digits it has, its size. */
  readonly down: boolean
  readonly length: number
  readonly exponent: number
}

const START: State = { phase: "start", negative: false, digits: 0n, scale: 0, down: false, length: 0, exponent: 0 }
/** Exponents of numbers that are bounded have at most this many digits and this size. */
const EXPONENT_DIGITS = 3
const MAX_EXPONENT = 400

/**
 * A JSON number in one of the sets. `plain` is how models should write: whole numbers without a fraction, and where
 * there are bounds or steps without an exponent, so that few states tell all numbers apart. Otherwise 1.0 and 10e-1 are
 * ones too.
 */
export function numberLexeme(sets: readonly NumberSet[], plain: boolean): Lexeme {
  if (
    sets.includes(ANY_NUMBER) ||
    sets.some(
      (set) => set.low === undefined && set.high === undefined && set.step === undefined && set.notSteps.length === 0,
    )
  )
    return ANY
  const listed = listedNumbers(sets, plain)
  if (listed !== undefined) return listed
  const whole = plain ? integerLexeme(sets) : undefined
  if (whole !== undefined) return whole
  const shorten = clipper(sets)
  const only = sets.length === 1 && sets[0]!.step === undefined && sets[0]!.notSteps.length === 0 ? sets[0] : undefined
  const clip = (state: State): State => (plain ? (settle(only, state) ?? shorten(state)) : state)
  const wholeOnly = (set: NumberSet): boolean => set.plain === true || (plain && set.step?.scale === 0)
  const fractional = sets.filter((set) => !wholeOnly(set))

  const possible = (state: State): boolean => {
    if (state.phase.startsWith("free")) return true
    const inFraction = state.phase === "point" || state.phase === "fraction"
    if ((inFraction ? fractional : sets).some((set) => canComplete(set, state))) return true
    return !plain && fractional.some((set) => canScale(set, state))
  }

  return createLexeme<State>({
    start: START,
    step(state, byte) {
      const next = stepNumber(state, byte, !plain)
      return next === undefined || !possible(next) ? undefined : clip(next)
    },
    outcome(state) {
      const { phase, negative, digits, scale } = state
      if (UNFINISHED.includes(phase)) return -1
      if (phase === "free" || phase === "free-fraction") return 0
      const value = decimal(negative ? -digits : digits, scale - signed(state))
      return (phase === "zero" || phase === "whole" ? sets : fractional).some((set) => containsNumber(set, value))
        ? 0
        : -1
    },
    key: ({ phase, negative, digits, scale, down, length, exponent }) =>
      `${phase}${negative ? "-" : ""}${digits},${scale},${down},${length},${exponent}`,
    bytes: () => (plain ? NUMBER_BYTES : ALL_NUMBER_BYTES),
  })
}

const NUMBER_BYTES = [0x2d, 0x2e, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39]
const ALL_NUMBER_BYTES = [...NUMBER_BYTES, 0x2b, 0x65, 0x45]
const UNFINISHED: readonly Phase[] = ["start", "minus", "point", "e", "sign", "free-point"]
const signed = ({ down, exponent }: State): number => (down ? -exponent : exponent)
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39

/** What a digit, a point and an e lead to, by phase; where nothing stands, the byte is not allowed. */
interface Ways {
  readonly digit?: (state: State, digit: number) => State | undefined
  readonly point?: Phase
  readonly exponent?: Phase
}

const firstDigit = (state: State, digit: number): State => ({
  ...state,
  phase: digit === 0 ? "zero" : "whole",
  digits: BigInt(digit),
})
const fractionDigit = (state: State, digit: number): State => ({
  ...state,
  phase: "fraction",
  digits: state.digits * 10n + BigInt(digit),
  scale: state.scale + 1,
})
const laterExponentDigit = (state: State, digit: number): State | undefined =>
  state.length >= EXPONENT_DIGITS ? undefined : exponentDigit(state, digit)
const freeFraction = (state: State): State => ({ ...state, phase: "free-fraction" })

const WAYS: Readonly<Record<Phase, Ways>> = {
  start: { digit: firstDigit },
  minus: { digit: firstDigit },
  zero: { point: "point", exponent: "e" },
  whole: {
    digit: (state, digit) => ({ ...state, digits: state.digits * 10n + BigInt(digit) }),
    point: "point",
    exponent: "e",
  },
  point: { digit: fractionDigit },
  fraction: { digit: fractionDigit, exponent: "e" },
  free: { digit: (state) => state, point: "free-point" },
  "free-point": { digit: freeFraction },
  "free-fraction": { digit: freeFraction },
  e: { digit: exponentDigit },
  sign: { digit: laterExponentDigit },
  exponent: { digit: laterExponentDigit },
}

function stepNumber(state: State, byte: number, exponents: boolean): State | undefined {
  const ways = WAYS[state.phase]
  if (isDigit(byte)) return ways.digit?.(state, byte - 0x30)
  if (byte === 0x2d || byte === 0x2b) return signNumber(state, byte === 0x2d)
  const phase = byte === 0x2e ? ways.point : exponents && (byte === 0x65 || byte === 0x45) ? ways.exponent : undefined
  return phase === undefined ? undefined : { ...state, phase }
}

/** After a sign: of the number, which is a minus, or of its exponent. */
function signNumber(state: State, minus: boolean): State | undefined {
  if (state.phase === "start") return minus ? { ...state, phase: "minus", negative: true } : undefined
  return state.phase === "e" ? { ...state, phase: "sign", down: minus } : undefined
}

function exponentDigit(state: State, digit: number): State {
  return { ...state, phase: "exponent", length: state.length + 1, exponent: state.exponent * 10 + digit }
}

const FREE: State = { ...START, phase: "free" }

/** The state in which the digits so far are forgotten, where every number that they can grow into is a member. */
function settle(set: NumberSet | undefined, { phase, negative, digits, scale }: State): State | undefined {
  if (set === undefined || (phase !== "whole" && phase !== "fraction")) return undefined
  const near = decimal(negative ? -digits : digits, scale)
  const next = decimal(negative ? -(digits + 1n) : digits + 1n, scale)
  if (phase === "whole") {
    const endless = (negative ? set.low : set.high) === undefined
    return endless && containsNumber(set, near) ? FREE : undefined
  }
  // Between here and the next number of that many digits, which itself stays out.
  const within =
    containsNumber(set, near) &&
    (containsNumber(set, next) ||
      [set.low, set.high].some((bound) => bound !== undefined && compareDecimals(bound.value, next) === 0))
  return within ? { ...FREE, phase: "free-fraction" } : undefined
}

/** Whether an exponent, or more digits and then an exponent, can make a member of the set out of the number so far. */
function canScale(set: NumberSet, state: State): boolean {
  const { phase, negative, digits, scale } = state
  if (phase === "start" || phase === "minus") return canComplete(set, state)
  const exact = phase === "e" || phase === "sign" || phase === "exponent"
  const fits = (exponent: number): boolean => {
    if (Math.abs(exponent) > MAX_EXPONENT) return false
    if (exact) return containsNumber(set, decimal(negative ? -digits : digits, scale - exponent))
    // Further digits of the fraction, or of the whole, fill the gap up to the next number.
    const low = { value: decimal(negative ? -(digits + 1n) : digits, scale - exponent), open: negative }
    const high = { value: decimal(negative ? -digits : digits + 1n, scale - exponent), open: !negative }
    return meetNumbers({ low, high, notSteps: [] }, set) !== undefined
  }
  if (phase === "exponent") return exponentsFrom(state).some(fits)
  // Farther out every bound is passed, and what ten adds to a number's divisors has been added.
  const farthest = Math.min(MAX_EXPONENT, horizon(set) + digits.toString().length + scale + 24)
  for (let size = 0; size <= farthest; size++) {
    if ((phase !== "sign" || !state.down) && fits(size)) return true
    if ((phase !== "sign" || state.down) && fits(-size)) return true
  }
  return false
}

/** The exponents that can still come out. */
function exponentsFrom({ exponent, length, down }: State): number[] {
  const sizes: number[] = []
  for (let more = 0, width = 1; length + more <= EXPONENT_DIGITS; more++, width *= 10) {
    for (let digits = 0; digits < width; digits++) sizes.push(exponent * width + digits)
  }
  return sizes.map((size) => (down ? -size : size))
}

/**
 * Beyond this many further digits nothing changes: bounds are passed, and every step has multiples in so wide a range.
 */
function horizon(set: NumberSet): number {
  const digits = [set.low?.value, set.high?.value, set.step, ...set.notSteps].map((value) =>
    value === undefined ? 0 : value.digits.toString().length + value.scale,
  )
  return Math.max(...digits) + 3
}

/** Whether further digits can make a member of the set out of the number so far. */
function canComplete(set: NumberSet, { phase, negative, digits, scale }: State): boolean {
  const between = (first: bigint, last: bigint, scale: number): boolean => {
    const low = { value: decimal(negative ? -last : first, scale), open: negative }
    const high = { value: decimal(negative ? -first : last, scale), open: !negative }
    return meetNumbers({ low, high, notSteps: [] }, set) !== undefined
  }
  if (phase === "start") return true
  if (phase === "e" || phase === "sign" || phase === "exponent") return false
  if (phase.startsWith("free")) return true
  if (phase === "minus") {
    return meetNumbers({ high: { value: decimal(0n, 0), open: false }, notSteps: [] }, set) !== undefined
  }
  if (phase !== "whole") return between(digits, digits + 1n, scale)
  // More digits only lead further away from zero.
  const end = negative ? set.low : set.high
  const isPast = (size: bigint): boolean =>
    end !== undefined && compareDecimals(end.value, decimal(negative ? -size : size, 0)) * (negative ? -1 : 1) < 0
  let width = 1n
  for (let more = horizon(set); more >= 0 && !isPast(digits * width); more--) {
    if (between(digits * width, (digits + 1n) * width, 0)) return true
    width *= 10n
  }
  return false
}

/** Maps states onto fewer that behave alike, so that long numbers do not need ever new ones. */
function clipper(sets: readonly NumberSet[]): (state: State) => State {
  let beyond = 1n
  let period = 1n
  let finest = 0
  let stepped = false
  for (const { low, high, step, notSteps } of sets) {
    for (const bound of [low, high]) {
      if (bound === undefined) continue
      const size =
        (bound.value.digits < 0n ? -bound.value.digits : bound.value.digits) / 10n ** BigInt(bound.value.scale) + 2n
      if (size > beyond) beyond = size
      finest = Math.max(finest, bound.value.scale)
    }
    for (const one of [step, ...notSteps]) {
      if (one === undefined) continue
      stepped = true
      finest = Math.max(finest, one.scale)
      period = leastCommonMultiple(period, one.digits)
    }
  }
  return (state) => {
    if (state.phase === "whole") {
      if (state.digits < beyond + period) return state
      return { ...state, digits: beyond + ((state.digits - beyond) % period) }
    }
    if (state.phase !== "fraction") return state
    // Digits finer than every bound and step only tell whether anything but zeros has come.
    if (state.scale > finest + 2) {
      const dropped = 10n ** BigInt(state.scale - finest - 2)
      const coarse = state.digits / dropped
      if (stepped && state.digits % dropped !== 0n) return state
      const rest =
        state.digits % dropped === 0n ? coarse : coarse - (coarse % 10n) + (coarse % 10n === 0n ? 1n : coarse % 10n)
      return { ...state, digits: rest, scale: finest + 2 }
    }
    return state
  }
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return (a / x) * b
}

/** RFC 8259, section 6. */
const ANY: Lexeme = (() => {
  type Any = "start" | "minus" | "zero" | "whole" | "point" | "fraction" | "e" | "sign" | "exponent"
  type Byte = "0" | "1-9" | "-" | "+" | "." | "e"
  const ends: readonly Any[] = ["zero", "whole", "fraction", "exponent"]
  const first = { "0": "zero", "1-9": "whole" } as const
  const next: Readonly<Record<Any, Readonly<Partial<Record<Byte, Any>>>>> = {
    start: { ...first, "-": "minus" },
    minus: first,
    zero: { ".": "point", e: "e" },
    whole: { "0": "whole", "1-9": "whole", ".": "point", e: "e" },
    point: { "0": "fraction", "1-9": "fraction" },
    fraction: { "0": "fraction", "1-9": "fraction", e: "e" },
    e: { "0": "exponent", "1-9": "exponent", "-": "sign", "+": "sign" },
    sign: { "0": "exponent", "1-9": "exponent" },
    exponent: { "0": "exponent", "1-9": "exponent" },
  }
  const signs = new Map<number, Byte>([
    [0x2d, "-"],
    [0x2b, "+"],
    [0x2e, "."],
    [0x65, "e"],
    [0x45, "e"],
  ])
  const kindOf = (byte: number): Byte | undefined => (byte === 0x30 ? "0" : isDigit(byte) ? "1-9" : signs.get(byte))
  return createLexeme<Any>({
    start: "start",
    step(state, byte) {
      const kind = kindOf(byte)
      return kind === undefined ? undefined : next[state][kind]
    },
    outcome: (state) => (ends.includes(state) ? 0 : -1),
    key: (state) => state,
    bytes: () => [...NUMBER_BYTES, 0x2b, 0x65, 0x45],
  })
})()

/** Exact decimal numbers: JSON's numbers are decimal texts, and binary floating point would change them. */

/** `digits` × 10^-`scale`, in lowest terms: `scale` is 0, or `digits` does not end in a zero. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** Exponents beyond this are not expanded. */
const MAX_EXPONENT = 400

export const ONE: Decimal = { digits: 1n, scale: 0 }

export function decimal(digits: bigint, scale: number): Decimal {
  let [d, s] = [digits, scale]
  while (s > 0 && d % 10n === 0n) {
    d /= 10n
    s--
  }
  while (s < 0) {
    d *= 10n
    s++
  }
  return { digits: d, scale: s }
}

/** The number of a JSON text, or undefined where its exponent is out of bounds. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (match === null) return undefined
  const exponent = Number(match[4] ?? 0)
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined
  const fraction = match[3] ?? ""
  const digits = BigInt(match[2]! + fraction)
  return decimal(match[1] === "-" ? -digits : digits, fraction.length - exponent)
}

/** @returns undefined for what JSON cannot write (infinities, not a number) */
export function decimalOf(value: number): Decimal | undefined {
  return parseDecimal(String(value))
}

/** The powers of ten that scales of common numbers differ by: raising to a power costs more than all else here. */
const POWERS = Array.from({ length: 40 }, (_, exponent) => 10n ** BigInt(exponent))

const scaled = (digits: bigint, by: number): bigint => (by === 0 ? digits : digits * (POWERS[by] ?? 10n ** BigInt(by)))

/** Both as whole numbers of the same, smaller unit. */
function align(a: Decimal, b: Decimal): [bigint, bigint, number] {
  const scale = Math.max(a.scale, b.scale)
  return [scaled(a.digits, scale - a.scale), scaled(b.digits, scale - b.scale), scale]
}

export function compareDecimals(a: Decimal, b: Decimal): number {
  const scale = Math.max(a.scale, b.scale)
  const x = scaled(a.digits, scale - a.scale)
  const y = scaled(b.digits, scale - b.scale)
  return x < y ? -1 : x > y ? 1 : 0
}

export const equalDecimals = (a: Decimal, b: Decimal): boolean => a.digits === b.digits && a.scale === b.scale

export function isMultiple(value: Decimal, of: Decimal): boolean {
  const [x, y] = align(value, of)
  return x % y === 0n
}

/** The least common multiple of two positive numbers. */
export function commonMultiple(a: Decimal, b: Decimal): Decimal {
  const [x, y, scale] = align(a, b)
  let [p, q] = [x, y]
  while (q !== 0n) [p, q] = [q, p % q]
  return decimal((x / p) * y, scale)
}

/** The whole factor `k` with `k × step` at or above (`up`) or at or below the value. */
export function nearestFactor(value: Decimal, step: Decimal, up: boolean): bigint {
  const [x, y] = align(value, step)
  const floor = x >= 0n ? x / y : -((-x + y - 1n) / y)
  return up && floor * y !== x ? floor + 1n : floor
}

export const times = (factor: bigint, step: Decimal): Decimal => decimal(factor * step.digits, step.scale)

export function printDecimal(value: Decimal): string {
  const negative = value.digits < 0n
  const digits = (negative ? -value.digits : value.digits).toString().padStart(value.scale + 1, "0")
  const whole = digits.slice(0, digits.length - value.scale)
  const fraction = digits.slice(digits.length - value.scale)
  return `${negative ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`
}

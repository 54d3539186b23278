/** Numbers of 16 bits (IEEE 754 binary16), which Node 22 knows no typed array of. */

/** The number that 16 bits stand for. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}

const LARGEST = 65_504
const SMALLEST_NORMAL = 2 ** -14
/** Times a double and taken away again, it leaves the eleven leading places (Veltkamp, 1968). */
const SPLIT = 2 ** 42 + 1
/** Added to a double and taken away again, it leaves what are whole steps of 2^-24. */
const SMALL = 1.5 * 2 ** 28

/** The nearest number of 16 bits. */
export function roundToHalf(value: number): number {
  const size = Math.abs(value)
  if (size < SMALLEST_NORMAL) return value + SMALL - SMALL
  if (size > LARGEST) return Math.sign(value) * LARGEST
  const split = value * SPLIT
  return split - (split - value)
}

/** UTF-8, read byte by byte into code points. */

/** A character of which some bytes have been read. */
export interface PartialCharacter {
  /** The bits so far. */
  readonly bits: number
  /** How many bytes are still to come. */
  readonly left: number
  /** How many bytes the character has in all. */
  readonly size: number
}

const SMALLEST = [0, 0, 0x80, 0x800, 0x10000]

/** The lead byte of a character of several bytes, or undefined. */
export function beginCharacter(byte: number): PartialCharacter | undefined {
  if (byte >= 0xc2 && byte <= 0xdf) return { bits: byte & 0x1f, left: 1, size: 2 }
  if (byte >= 0xe0 && byte <= 0xef) return { bits: byte & 0x0f, left: 2, size: 3 }
  if (byte >= 0xf0 && byte <= 0xf4) return { bits: byte & 0x07, left: 3, size: 4 }
  return undefined
}

export function continueCharacter(partial: PartialCharacter, byte: number): PartialCharacter | undefined {
  if ((byte & 0xc0) !== 0x80) return undefined
  return { bits: (partial.bits << 6) | (byte & 0x3f), left: partial.left - 1, size: partial.size }
}

/** The characters that it can become, `first` > `last` where there are none. */
export function rangeOf({ bits, left, size }: PartialCharacter): { first: number; last: number } {
  const first = Math.max(bits << (6 * left), SMALLEST[size]!)
  const last = Math.min(((bits + 1) << (6 * left)) - 1, 0x10ffff)
  return { first, last }
}

/** Beyond so many digits JavaScript's numbers are no longer exact. */
const MOST_DIGITS = 15

/**
 * The whole numbers of a text as they are written in JSON, each once: every run of digits, without the zeros before it,
 * and below zero too where a minus sign stands before it that nothing is subtracted from.
 */
export function wholeNumbersIn(codes: Int32Array): string[] {
  const found = new Set<string>()
  for (let at = 0; at < codes.length; at++) {
    if (!isDigit(codes[at]!)) continue
    let digits = ""
    const from = at
    for (; at < codes.length && isDigit(codes[at]!); at++) digits += String.fromCharCode(codes[at]!)
    const plain = digits.replace(/^0+(?=.)/, "")
    if (plain.length > MOST_DIGITS) continue
    found.add(plain)
    if (plain !== "0" && codes[from - 1] === MINUS && !isWordEnd(codes[from - 2])) found.add(`-${plain}`)
  }
  return [...found]
}

const MINUS = 0x2d
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39
const isWordEnd = (code: number | undefined): boolean =>
  code !== undefined && code !== 0 && /^[\p{L}\p{N})\]_-]$/u.test(String.fromCodePoint(code))

/** Numbers out of a list, as texts: where there are many, working with bounds would take too long. */
import { equalDecimals, printDecimal } from "../schema/decimal.ts"
import type { NumberSet } from "../schema/types.ts"
import { createLexeme, type Lexeme } from "./lexeme.ts"

interface State {
  /** What has been read of a number's text as it is usually written. */
  readonly text: string
  /** What has come after the whole of it: nothing, a point, or zeros that say nothing. */
  readonly after: "" | "." | "0"
}

/** A few numbers are as quickly told from their bounds, in all spellings. */
const MANY = 16

/**
 * @param plain leaves out zeros after the point that say nothing
 * @returns undefined where the sets are few or not single numbers
 */
export function listedNumbers(sets: readonly NumberSet[], plain: boolean): Lexeme | undefined {
  if (sets.length < MANY) return undefined
  const whole = new Set<string>()
  const beginnings = new Set<string>([""])
  for (const { low, high } of sets) {
    if (low === undefined || high === undefined || low.open || high.open || !equalDecimals(low.value, high.value))
      return undefined
    const text = printDecimal(low.value)
    whole.add(text)
    for (let length = 1; length <= text.length; length++) beginnings.add(text.slice(0, length))
  }
  return createLexeme<State>({
    start: { text: "", after: "" },
    step({ text, after }, byte) {
      const character = String.fromCharCode(byte)
      if (after === "" && beginnings.has(text + character)) return { text: text + character, after: "" }
      if (plain || !whole.has(text)) return undefined
      if (character === "0" && (after !== "" || text.includes("."))) return { text, after: "0" }
      return character === "." && after === "" && !text.includes(".") ? { text, after: "." } : undefined
    },
    outcome: ({ text, after }) => (after !== "." && whole.has(text) ? 0 : -1),
    key: ({ text, after }) => `${text},${after}`,
    bytes: () => BYTES,
  })
}

const BYTES = [0x2d, 0x2e, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39]

import type { ToolCall } from "@toolwright/toolbox"
import { PLAIN } from "./probes.ts"
import type { Renderings } from "./renderings.ts"

/** The texts from which a syntax is read off: how the template shows a few plain calls. */
export interface Samples {
  /** One call with one text. */
  one: string
  /** One call, all words other than in the first. */
  other: string
  /** One call with two texts. */
  two: string
  /** One call with a number before a text. */
  number: string | undefined
  /** One call without arguments. */
  none: string | undefined
  /** One call with tags in its text. */
  tags: string | undefined
  /** Two calls; undefined where a message shows but one. */
  pair: string | undefined
}

/**
 * A call of a few words takes some hundred characters in every known family. Reading back what is written at greater
 * length, cut wherever it can be, would take time by the square of it.
 */
const LONGEST_CALL = 4000

/** Undefined where the template shows no calls, or at a length that none has. */
export function samplesOf(renderings: Renderings): Samples | undefined {
  const text = (calls: readonly ToolCall[]): string | undefined => {
    const shown = renderings.reply(calls)
    if (shown === undefined || shown.text.length > LONGEST_CALL) return undefined
    return hasArguments(shown.text, calls) ? shown.text : undefined
  }
  const one = text(PLAIN.one)
  const other = text(PLAIN.other)
  const two = text(PLAIN.two)
  if (one === undefined || other === undefined || two === undefined) return undefined
  const [number, none, pair] = [PLAIN.number, PLAIN.none, PLAIN.pair].map(text)
  return { one, other, two, number, none, pair, tags: renderings.reply(PLAIN.tags)?.text }
}

/** Whether the texts among the arguments stand in it too. */
function hasArguments(text: string, calls: readonly ToolCall[]): boolean {
  return calls.every(({ arguments: args }) =>
    Object.entries(args).every(
      ([key, value]) => text.includes(key) && (typeof value !== "string" || text.includes(value)),
    ),
  )
}

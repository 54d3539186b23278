/** What the grounded parts of a grammar come to in a conversation. */
import { memory } from "@toolwright/toolbox"
import { ANY_TEXT, intersectDfa } from "../automaton/dfa-algebra.ts"
import type { Dfa } from "../automaton/dfa.ts"
import { RegexProblem } from "../automaton/regex-syntax.ts"
import { graphOfTexts, type TextGraph } from "../lexeme/text-graph.ts"
import { textWithout } from "../automaton/text-without.ts"
import type { BoundGrounding } from "../grammar/bound-grounding.ts"
import type { StringStyle } from "../lexeme/string-style.ts"
import { parseDecimal } from "../schema/decimal.ts"
import { containsNumber } from "../schema/numbers.ts"
import type { NumberSet, StringSet } from "../schema/types.ts"
import { constantsWithin, conversationOf, NO_LIMITS, type TextLimits } from "./conversation.ts"
import type { GroundedHole } from "../schema/grounded-hole.ts"
import type { Grounding } from "./model.ts"
import { groundedBy } from "./rules.ts"

export function bindGrounding({ text, rules = {} }: Grounding): BoundGrounding {
  const conversation = conversationOf(text)
  const known = new Map<string, readonly TextGraph[]>()
  const numbers = new Map<TextLimits, number>()
  const numberOf = (limits: TextLimits): number => {
    let number = numbers.get(limits)
    if (number === undefined) numbers.set(limits, (number = numbers.size))
    return number
  }
  const alsoOf = ({ also, rule }: GroundedHole): readonly string[] => {
    const ruled = rule === undefined ? undefined : groundedBy(rules, rule.tool, rule.argument)
    return ruled === undefined || typeof ruled === "string" ? also : [...also, ...(ruled.also ?? [])]
  }
  const remember = (key: string, make: () => (TextGraph | undefined)[]): readonly TextGraph[] => {
    let graphs = known.get(key)
    if (graphs === undefined) known.set(key, (graphs = make().filter((graph) => graph !== undefined)))
    return graphs
  }
  return {
    strings(set, style) {
      const { grounded } = set
      if (grounded === undefined) return []
      const also = alsoOf(grounded)
      const limits = limitsOf(set, style)
      if (limits === null) return []
      const key = `${grounded.kind};${numberOf(limits)};${also.length === 0 ? "" : JSON.stringify(also)}`
      return remember(key, () => {
        const said = conversation.graph(grounded.kind, limits)
        return said === null ? [] : [said, constantsWithin(also, limits)]
      })
    },
    numbers(set) {
      if (set.grounded === undefined) return []
      const texts = [...new Set([...conversation.numbers, ...alsoOf(set.grounded)])].filter((text) =>
        isMember(text, set),
      )
      return remember(texts.join(), () => [graphOfTexts(texts)])
    },
  }
}

function isMember(text: string, set: NumberSet): boolean {
  const value = /^-?(?:0|[1-9][0-9]*)$/.test(text) ? parseDecimal(text) : undefined
  return value !== undefined && containsNumber(set, value)
}

const limitsByContent = memory.derived((_language: Dfa) => new Map<string, TextLimits>())
const limitsBySet = memory.derived((_set: StringSet) => new Map<string, TextLimits | null>())

/** What a set demands of a text besides, in a style; null where it takes too much to say. */
function limitsOf(set: StringSet, style: StringStyle): TextLimits | null {
  const stops = style.kind === "bare" ? style.stop : style.kind === "delimited" ? [style.close] : []
  const key = stops.join("\0")
  const known = limitsBySet(set)
  let limits = known.get(key)
  if (limits === undefined) known.set(key, (limits = workOutLimits(set, stops)))
  return limits
}

/** The same object for the same demands. */
function workOutLimits(set: StringSet, stops: readonly string[]): TextLimits | null {
  try {
    const language = stops.length === 0 ? set.language : intersectDfa(set.language, textWithout(stops))
    // Spans are never empty.
    const least = set.min > 1 ? set.min : 0
    if (language === ANY_TEXT && least === 0 && set.max === Infinity) return NO_LIMITS
    const known = limitsByContent(language)
    let limits = known.get(`${least},${set.max}`)
    if (limits === undefined)
      known.set(
        `${least},${set.max}`,
        (limits = { language: language === ANY_TEXT ? undefined : language, least, most: set.max }),
      )
    return limits
  } catch (problem) {
    if (problem instanceof RegexProblem) return null
    throw problem
  }
}

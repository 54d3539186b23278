/** A conversation as grammars are held to it: its spans, paths and numbers, worked out when asked for and once. */
import { memory } from "@toolwright/toolbox"
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { type Dfa, matchesDfa } from "../automaton/dfa.ts"
import { graphOfTexts, meetGraph, type TextGraph } from "../lexeme/text-graph.ts"
import { withLength } from "../schema/strings.ts"
import { SchemaProblem } from "../schema/types.ts"
import { bordersOf, type Borders, isWhite } from "./borders.ts"
import { type GroundedKind, MAX_GROUNDING_TEXT } from "./model.ts"
import { wholeNumbersIn } from "./numbers.ts"
import { boundedSpanGraph, joinedPaths, spanGraph } from "./span-graph.ts"

/** What a schema demands of a text besides. */
export interface TextLimits {
  readonly language: Dfa | undefined
  /** In characters; 0 where every span has that many. */
  readonly least: number
  /** Infinity where there is no bound. */
  readonly most: number
}

export interface Conversation {
  readonly numbers: readonly string[]
  /**
   * What of the kind was said, within limits: undefined where that is nothing, null where finding out would take too
   * much.
   */
  graph(kind: GroundedKind, limits?: TextLimits): TextGraph | undefined | null
}

export const NO_LIMITS: TextLimits = { language: undefined, least: 0, most: Infinity }

const recent = memory.latest<Conversation>(4)

/** The same object for the same text while it is one of the latest. */
export function conversationOf(text: string): Conversation {
  return recent.get(text, () => readConversation(text))
}

function readConversation(text: string): Conversation {
  let borders: Borders | undefined
  let numbers: readonly string[] | undefined
  let single: TextGraph | undefined | null = null
  const all = new Map<GroundedKind, TextGraph | undefined>()
  const within = new Map<GroundedKind, Map<TextLimits, TextGraph | undefined | null>>()
  const bordered = (): Borders => (borders ??= bordersOf(text, MAX_GROUNDING_TEXT))

  function everything(kind: GroundedKind): TextGraph | undefined {
    if (!all.has(kind)) {
      const graph =
        kind === "number" ? graphOfTexts(conversation.numbers) : kind === "path" ? words() : spanGraph(bordered(), kind)
      all.set(kind, kind === "path" && graph !== undefined ? joinedPaths(graph) : graph)
    }
    return all.get(kind)
  }

  /** Paths as they were said, none joined. */
  function words(): TextGraph | undefined {
    if (single === null) single = spanGraph(bordered(), "path")
    return single
  }

  function limited(kind: GroundedKind, limits: TextLimits): TextGraph | undefined | null {
    const long = limits.most < longest(kind)
    // The graph of all spans cannot count their lengths; see there.
    if (kind === "span" && long) return restricted(boundedSpanGraph(bordered(), limits.most), limits, false)
    const graph = restricted(everything(kind), limits, long)
    return graph === null && kind === "path" ? restricted(words(), limits, long) : graph
  }

  /** @param count whether its longest texts are too long */
  function restricted(
    graph: TextGraph | undefined,
    { language, least, most }: TextLimits,
    count: boolean,
  ): TextGraph | undefined | null {
    const fitting = graph === undefined || language === undefined ? graph : meetGraph(graph, language)
    if (fitting === undefined || fitting === null || (least === 0 && !count)) return fitting
    const length = lengthLanguage(least, count ? most : Infinity)
    return length === null ? null : meetGraph(fitting, length)
  }

  /** No text of the kind is longer. */
  function longest(kind: GroundedKind): number {
    const { codes } = bordered()
    if (kind !== "path") return codes.length
    let [most, word] = [0, 0]
    for (const code of codes) {
      word = isWhite(code) ? 0 : word + 1
      if (word > most) most = word
    }
    return 2 * most + 1
  }

  const conversation: Conversation = {
    get numbers() {
      return (numbers ??= wholeNumbersIn(bordered().codes))
    },
    graph(kind, limits = NO_LIMITS) {
      if (limits === NO_LIMITS) return everything(kind)
      let known = within.get(kind)
      if (known === undefined) within.set(kind, (known = new Map()))
      if (!known.has(limits)) known.set(limits, limited(kind, limits))
      return known.get(limits)
    },
  }
  return conversation
}

/** The constants that are within limits. */
export function constantsWithin(
  texts: readonly string[],
  { language, least, most }: TextLimits,
): TextGraph | undefined {
  return graphOfTexts(
    texts.filter((text) => {
      const length = Array.from(text).length
      return length >= least && length <= most && (language === undefined || matchesDfa(language, text))
    }),
  )
}

const lengths = memory.latest<Dfa | null>(50)

/** Texts of so many characters; null where the bounds are too far out to be spelt out. */
function lengthLanguage(least: number, most: number): Dfa | null {
  return lengths.get(`${least},${most}`, () => spellOut(least, most))
}

function spellOut(least: number, most: number): Dfa | null {
  try {
    return withLength({ language: ANY_TEXT, min: least, max: most })
  } catch (problem) {
    if (problem instanceof SchemaProblem) return null
    throw problem
  }
}

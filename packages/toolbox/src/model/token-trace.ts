/**
 * How a model came to a reply, token by token, as it is kept on disk: every text once, numbers in columns, and what is
 * certain as 0. Chances are ten-thousandths of what the model itself would have given, before a grammar and before a
 * temperature.
 */
export interface TokenTrace {
  /** Every text that occurs, once; what else speaks of a text says its place in this list. */
  texts: string[]
  /** The tokens as they were written. */
  tokens: number[]
  /** How likely it was in each place that another came. */
  doubts: number[]
  /** How many tokens the grammar let through in each place; not there where nothing held the reply. */
  allowed?: number[]
  /** How much of the model's chances lay on tokens that the grammar removed. */
  removed?: number[]
  /** What else was likely, by place: pairs of a text and its chance, `~text` where the grammar removed it. */
  others: Record<number, number[]>
  /** The last token is the model's own end. */
  ended?: true
  /** Why it is not whole. */
  problem?: string
}

/** Where in what was said the value of an argument stands, newest first. */
export interface ArgumentOrigin {
  callId: string
  /** In the arguments, as a dotted path. */
  argument: string
  /** The grammar held it to what was said: the kind of rule. */
  held?: string
  /** Nothing where it does not stand in what was said. */
  places: OriginPlace[]
}

/** A place in a message of the request, with a few words around it. */
export interface OriginPlace {
  /** Which message of the request, from 0. */
  message: number
  role: string
  before: string
  text: string
  after: string
}

/** One place of a reply, as it can be looked at. Chances are between 0 and 1. */
export interface TokenStep {
  text: string
  chance: number
  /** Not there where nothing held the reply. */
  allowed?: number
  /** How much of the chances lay on what the grammar removed. */
  removed?: number
  others: { text: string; chance: number; removed: boolean }[]
  /** The model's own end. */
  end?: true
}

const ALL = 10_000

/** A trace place by place. What was recorded is not trusted: what is not there counts as nothing. */
export function tokenSteps(trace: Partial<TokenTrace>): TokenStep[] {
  const { texts = [], tokens = [], doubts = [], allowed, removed, others = {}, ended } = trace
  const textAt = (place: number): string => String(texts[place] ?? "")
  return tokens.map((token, place) => {
    const pairs = others[place] ?? []
    const [count, lost] = [allowed?.[place], removed?.[place]]
    return {
      text: textAt(token),
      chance: (ALL - Number(doubts[place] ?? ALL)) / ALL,
      ...(count === undefined ? {} : { allowed: count }),
      ...(lost === undefined ? {} : { removed: lost / ALL }),
      others: Array.from({ length: Math.floor(pairs.length / 2) }, (_, index) => {
        const text = pairs[2 * index]!
        return { text: textAt(text < 0 ? ~text : text), chance: pairs[2 * index + 1]! / ALL, removed: text < 0 }
      }),
      ...(ended === true && place === tokens.length - 1 ? { end: true as const } : {}),
    }
  })
}

/** A network's limit, and how it counts. */
export interface SocialNetwork {
  name: string
  limit: number
  unit: string
  /** The length of a text as this network counts it. */
  length(text: string): number
}

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" })
const EMOJI = /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u
const LINK =
  /https?:\/\/[^\s<>]+[^\s<>.,;:!?'")\]]|\b(?:[a-z0-9-]+\.)+(?:com|org|net|io|dev|app|ai|co|edu|gov|me|info|blog|de|fr|uk|ch|eu|jp|in|us)\b(?:\/[^\s<>]*[^\s<>.,;:!?'")\]])?/gi
/** Characters that X counts once; all others count twice (docs.x.com, "Counting characters"). */
const SINGLE = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
] as const
const LINK_LENGTH = 23

export const NETWORKS = {
  twitter: {
    name: "X (Twitter)",
    limit: 280,
    unit: "characters as X counts them (links 23, emoji and CJK 2)",
    length: xLength,
  },
  bluesky: { name: "Bluesky", limit: 300, unit: "graphemes", length: blueskyLength },
  linkedin: { name: "LinkedIn", limit: 3000, unit: "characters", length: (text: string) => text.length },
} as const satisfies Record<string, SocialNetwork>

export type NetworkName = keyof typeof NETWORKS

function xLength(text: string): number {
  let length = 0
  const rest = text.normalize("NFC").replace(LINK, () => {
    length += LINK_LENGTH
    return ""
  })
  for (const { segment } of segmenter.segment(rest)) {
    if (EMOJI.test(segment)) length += 2
    else for (const character of segment) length += isSingle(character.codePointAt(0) as number) ? 1 : 2
  }
  return length
}

function isSingle(code: number): boolean {
  return SINGLE.some(([first, last]) => code >= first && code <= last)
}

/** Graphemes; a text of few graphemes and more than 3000 bytes counts as too long as well (app.bsky.feed.post). */
function blueskyLength(text: string): number {
  const graphemes = [...segmenter.segment(text)].length
  const bytes = new TextEncoder().encode(text).length
  return bytes > 3000 ? Math.max(graphemes, 301) : graphemes
}

/**
 * A text shortened to a network's limit: at the end of a sentence where that keeps most of it, else after a word, with
 * `…`; a link at the end stays whole.
 */
export function shorten(text: string, network: SocialNetwork): string {
  if (network.length(text) <= network.limit) return text
  const link = /\s*(https?:\/\/\S+)\s*$/.exec(text)
  const tail = link === null ? "" : `\n${link[1]}`
  const body = (link === null ? text : text.slice(0, link.index)).trim()
  const graphemes = [...segmenter.segment(body)].map(({ segment }) => segment)
  let [low, high] = [0, graphemes.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (network.length(`${graphemes.slice(0, middle).join("")}…${tail}`) <= network.limit) low = middle
    else high = middle - 1
  }
  const cut = graphemes.slice(0, low).join("")
  const sentence = /^[^]*[.!?](?=\s|$)/.exec(cut)?.[0]
  if (sentence !== undefined && sentence.length > cut.length * 0.6) return `${sentence}${tail}`
  const word = cut.length < body.length ? cut.replace(/\s+\S*$/, "") : cut
  return `${word === "" ? cut : word}…${tail}`
}

/** Where in a text spans may begin and end. */
import { memory } from "@toolwright/toolbox"

export interface Borders {
  /** The characters, half surrogates and U+0000 as 0. */
  readonly codes: Int32Array
  /** 1 where a span may begin with the character. */
  readonly starts: Uint8Array
  /** 1 at n where a span may end before character n; one longer than the text. */
  readonly ends: Uint8Array
}

export const SLASH = 0x2f

const WHITE = /^\s$/u
const QUOTES = new Set([..."\"'`“”„‘’‚«»‹›"].map(codeOf))
const BRACKETS = new Set([..."()[]{}<>（）「」『』【】《》"].map(codeOf))
/** Between a label and what it labels, and between the members of a list. */
const SEPARATORS = new Set([...":=,;|，：；、。"].map(codeOf))
const FULL_STOPS = new Set([...".,;:!?…"].map(codeOf))
/** Scripts that leave no space between words: every character of them is a word's border. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]$/u

const CLASS = { plain: 0, white: 1, border: 2, unspaced: 3 } as const
type CharacterClass = (typeof CLASS)[keyof typeof CLASS]

function codeOf(character: string): number {
  return character.codePointAt(0)!
}

const classes = memory.latest<CharacterClass, number>(20_000)

const classOf = (code: number): CharacterClass => classes.get(code, () => findClass(code))

function findClass(code: number): CharacterClass {
  if (code === 0) return CLASS.white
  const character = String.fromCodePoint(code)
  if (WHITE.test(character)) return CLASS.white
  if (QUOTES.has(code) || BRACKETS.has(code) || SEPARATORS.has(code)) return CLASS.border
  return UNSPACED.test(character) ? CLASS.unspaced : CLASS.plain
}

export const isWhite = (code: number): boolean => classOf(code) === CLASS.white

/**
 * A span begins after white space, a quote, a bracket or a separator, and ends before one of these or before the full
 * stops of a sentence; it neither begins nor ends with white space. Whether one may begin at a place is seen from the
 * two characters there: the automaton of spans stays small because of that.
 */
export function bordersOf(text: string, limit: number): Borders {
  const codes = codesOf(text, limit)
  const size = codes.length
  const starts = new Uint8Array(size)
  const ends = new Uint8Array(size + 1)
  let stops = true
  for (let at = size; at >= 0; at--) {
    const before = at === 0 ? CLASS.white : classOf(codes[at - 1]!)
    const here = at === size ? CLASS.white : classOf(codes[at]!)
    if (at < size && here !== CLASS.white && (before !== CLASS.plain || here === CLASS.unspaced)) starts[at] = 1
    // Full stops count where nothing but more of them comes before the word's border.
    if (here !== CLASS.plain) stops = true
    else if (!FULL_STOPS.has(codes[at]!)) stops = false
    if (before !== CLASS.white && (here !== CLASS.plain || before === CLASS.unspaced || stops)) ends[at] = 1
  }
  return { codes, starts, ends }
}

/** The last `limit` characters. */
function codesOf(text: string, limit: number): Int32Array {
  const tail = text.length > 2 * limit ? text.slice(-2 * limit) : text
  const all: number[] = []
  for (const character of tail) {
    const code = character.codePointAt(0)!
    all.push(code >= 0xd800 && code <= 0xdfff ? 0 : code)
  }
  if (all.length <= limit) return Int32Array.from(all)
  // A word that the cut goes through would be taken for a whole one.
  const cut = all.length - limit
  let from = cut
  if (!isWhite(all[from - 1]!)) while (from < all.length && !isWhite(all[from]!)) from++
  return Int32Array.from(all.slice(from < all.length ? from : cut))
}

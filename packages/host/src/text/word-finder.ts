/** A group of words, one of which is to be found. */
export interface WordGroup {
  /** Of plain characters (ASCII). */
  readonly words: readonly string[]
  /** Whether the case of letters does not matter. */
  readonly anyCase: boolean
}

/** Tells which groups have a word in a text, by their places in the list; nothing where none has. */
export type WordFinder = (text: string) => ReadonlySet<number> | undefined

/** A beginning of words. */
interface Beginning {
  /** Where its row stands in the table. */
  readonly row: number
  readonly longer: Map<number, Beginning>
  /** The longest end of it that is a beginning too, where a text goes on otherwise than its words do. */
  shorter: Beginning | undefined
  /** What ends with it. */
  readonly words: { readonly word: string; readonly group: number; readonly anyCase: boolean }[]
}

/** Plain characters, which rows of the table have a place each for. */
const PLAIN = 128
/** Characters that are looked at together. */
const PIECE = 16 * 1024
/**
 * The lower bytes of the two letters that are no plain ones and that an expression which ignores case takes for such:
 * the long s and the sign of the kelvin. What is led on by another character with that byte is not found in the text.
 */
const ODD_LETTERS: ReadonlyMap<number, number> = new Map(
  [
    ["\u017F", "s"],
    ["\u212A", "k"],
  ].map(([odd, plain]) => [odd!.charCodeAt(0) & 0xff, plain!.charCodeAt(0)]),
)
/** What a place of the table holds before it was asked for. Like a row with words that end, it is an odd number. */
const UNKNOWN = -1

/**
 * Makes a function that looks for many words at once: each character of a text is looked at one time, however many
 * words there are (Aho and Corasick). Letters of either case lead to the same place; a word that is meant as it is
 * written is compared where it ends. What a character leads to is worked out when it is first met there.
 */
export function createWordFinder(groups: readonly WordGroup[]): WordFinder {
  const beginnings = beginningsOf(groups)
  const table = new Int32Array(beginnings.length * PLAIN).fill(UNKNOWN)
  const bytes = Buffer.allocUnsafeSlow(PIECE)
  /** Works out what a character leads to: the row, and 1 where words end there. */
  const workOut = (row: number, code: number): number => {
    const folded = code >= 65 && code <= 90 ? code + 32 : (ODD_LETTERS.get(code) ?? code)
    const next = follow(beginnings[row / PLAIN], folded) ?? beginnings[0]!
    return (table[row + code] = next.words.length === 0 ? next.row : next.row + 1)
  }
  return (text) => {
    let found: Set<number> | undefined
    let row = 0
    for (let from = 0; from < text.length; from += PIECE) {
      // Bytes are read in half the time of a text's characters. Of one that is not plain this keeps the lower byte,
      // which may look like a plain one: then the word is not found where the text itself is asked.
      const length = bytes.write(text.length <= PIECE ? text : text.slice(from, from + PIECE), "latin1")
      for (let at = 0; at < length; at++) {
        const code = bytes[at]!
        if (code >= PLAIN) {
          row = 0
          continue
        }
        const next = table[row + code]!
        if ((next & 1) === 0) {
          row = next
          continue
        }
        const known = next === UNKNOWN ? workOut(row, code) : next
        row = known & ~1
        if (known === row) continue
        for (const { word, group, anyCase } of beginnings[row / PLAIN]!.words)
          if (stands(text, word, from + at + 1 - word.length, anyCase)) (found ??= new Set()).add(group)
      }
    }
    return found
  }
}

function stands(text: string, word: string, at: number, anyCase: boolean): boolean {
  if (text.startsWith(word, at)) return true
  if (!anyCase) return false
  return (
    text
      .slice(at, at + word.length)
      .replaceAll("\u017F", "s")
      .toLowerCase() === word.toLowerCase()
  )
}

/** Every beginning of a word, shorter ones first; the first is the empty one. */
function beginningsOf(groups: readonly WordGroup[]): Beginning[] {
  const empty: Beginning = { row: 0, longer: new Map(), shorter: undefined, words: [] }
  const all = [empty]
  for (const [group, { words, anyCase }] of groups.entries()) {
    for (const word of words) {
      let place = empty
      for (const sign of word.toLowerCase()) {
        const code = sign.charCodeAt(0)
        let next = place.longer.get(code)
        if (next === undefined) {
          next = { row: all.length * PLAIN, longer: new Map(), shorter: empty, words: [] }
          all.push(next)
          place.longer.set(code, next)
        }
        place = next
      }
      place.words.push({ word, group, anyCase })
    }
  }
  const byLength = [empty]
  for (const beginning of byLength) {
    for (const [code, longer] of beginning.longer) {
      byLength.push(longer)
      longer.shorter = follow(beginning.shorter, code) ?? empty
      longer.words.push(...longer.shorter.words)
    }
  }
  return all
}

/** What a character leads to from a beginning, or from the longest of its ends from which it leads anywhere. */
function follow(beginning: Beginning | undefined, code: number): Beginning | undefined {
  let from = beginning
  while (from !== undefined && !from.longer.has(code)) from = from.shorter
  return from?.longer.get(code)
}

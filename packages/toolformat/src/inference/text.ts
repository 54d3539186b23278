/** Texts cut into the pieces of which marks are made, so that what two have in common never ends inside a mark. */

/**
 * A tag or token in angle brackets, also in two of them, one in capitals or a closing one in square ones, a name
 * between two of a sign that no text has.
 */
const BRACKETED = String.raw`<<[^<>]+>>|<[^<>]*>|\[\/?[A-Z][A-Z_]*\]|\[\/[a-z][a-z_]*\]`
const MARK = String.raw`${BRACKETED}|([^\p{ASCII}\p{L}\p{N}\s])[\p{L}\p{N}_/]+\1`

/** A mark, a fence, white space, a word, or one character. */
const PIECE = new RegExp(`${MARK}${String.raw`|\x60{3}\w*|\s+|[\p{L}\p{N}_]+|[\s\S]`}`, "gu")
const WHOLE_MARK = new RegExp(`^(?:${MARK})$`, "u")

function pieces(text: string): string[] {
  return text.match(PIECE) ?? []
}

/** What both texts end in, in whole pieces. */
export function sharedEnd(one: string, other: string): string {
  const a = pieces(one)
  const b = pieces(other)
  let count = 0
  while (count < a.length && count < b.length && a.at(-1 - count) === b.at(-1 - count)) count++
  return count === 0 ? "" : a.slice(-count).join("")
}

/** What both texts begin with, in whole pieces. */
export function sharedStart(one: string, other: string): string {
  const a = pieces(one)
  const b = pieces(other)
  let count = 0
  while (count < a.length && count < b.length && a[count] === b[count]) count++
  return a.slice(0, count).join("")
}

/** How far two texts are the same, taken back to the beginning of a piece of the first. */
export function sameUpTo(one: string, other: string): number {
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  let at = 0
  for (const piece of pieces(one)) {
    if (at + piece.length > same) return at
    at += piece.length
  }
  return at
}

/** The tags and tokens in a text, in order. */
export function marksIn(text: string): string[] {
  return pieces(text).filter((piece) => piece !== "<>" && WHOLE_MARK.test(piece))
}

/** A text without white space at its beginning, and that white space. */
export function leadingSpace(text: string): { space: string; rest: string } {
  const rest = text.trimStart()
  return { space: text.slice(0, text.length - rest.length), rest }
}

/** A text without white space at its end, and that white space. */
export function trailingSpace(text: string): { space: string; rest: string } {
  const rest = text.trimEnd()
  return { space: text.slice(rest.length), rest }
}

/** What spans, paths and numbers of a text are, the slow and obvious way: for tests. */

const WHITE = "\\s\\0"
const BORDER = "\"'`“”„‘’‚«»‹›()\\[\\]{}<>（）「」『』【】《》:=,;|，：；、。"
const UNSPACED = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}"

const starts = (before: string, after: string): boolean =>
  new RegExp(`(?:^|[${WHITE}${BORDER}${UNSPACED}])$`, "u").test(before) || new RegExp(`^[${UNSPACED}]`, "u").test(after)
const ends = (inside: string, after: string): boolean =>
  new RegExp(`^[.,;:!?…]*(?:$|[${WHITE}${BORDER}${UNSPACED}])`, "u").test(after) || new RegExp(`[${UNSPACED}]$`, "u").test(inside)

/** Every text from a border to a border, none with white space at its ends or the separator inside. */
export function spansOf(text: string): Set<string> {
  return piecesOf(text, (inside) => !inside.includes("\0"), ends)
}

/** Every such text without white space, also up to a "/", and two joined by one. */
export function pathsOf(text: string): Set<string> {
  const single = [...piecesOf(text, (inside) => !/[\s\0]/u.test(inside), (inside, after) => after.startsWith("/") || ends(inside, after))]
  const joined = single.flatMap((first) => (first.endsWith("/") ? [] : single.flatMap((second) => (second.startsWith("/") ? [] : [`${first}/${second}`]))))
  return new Set([...single, ...joined])
}

function piecesOf(text: string, fits: (inside: string) => boolean, ending: (inside: string, after: string) => boolean): Set<string> {
  const letters = Array.from(text, (letter) => (letter.isWellFormed() ? letter : "\0"))
  const found = new Set<string>()
  for (let from = 0; from < letters.length; from++) {
    const before = letters.slice(0, from).join("")
    for (let to = from + 1; to <= letters.length; to++) {
      const inside = letters.slice(from, to).join("")
      if (!fits(inside)) break
      if (/^\s|\s$/u.test(inside) || !starts(before, inside)) continue
      if (ending(inside, letters.slice(to).join(""))) found.add(inside)
    }
  }
  return found
}

export function wholeNumbersOf(text: string): Set<string> {
  const found = new Set<string>()
  for (const match of text.matchAll(/(?:(?<![\p{L}\p{N})\]_-])(-))?(\d+)/gu)) {
    const digits = match[2]!.replace(/^0+(?=.)/, "")
    if (digits.length > 15) continue
    found.add(digits)
    if (match[1] !== undefined && digits !== "0") found.add(`-${digits}`)
  }
  return found
}

/** Texts full of borders. */
export const TRICKY = [..."aabb  ./:'\"(\\\n,=-10é你の\u0000😀"]

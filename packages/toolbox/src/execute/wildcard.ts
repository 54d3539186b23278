/**
 * Whether a pattern with `*` (any characters) and `?` (one, also of those that take two code units) matches a whole
 * text. Linear but for the last `*`.
 */
export function wildcard(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let resume = 0
  let index = 0
  while (index < text.length) {
    if (pattern[at] === "*") {
      star = at++
      resume = index
    } else if (at < pattern.length && (pattern[at] === "?" || pattern[at] === text[index])) {
      index += pattern[at++] === "?" && text.codePointAt(index)! > 0xffff ? 2 : 1
    } else if (star >= 0) {
      at = star + 1
      index = ++resume
    } else {
      return false
    }
  }
  while (pattern[at] === "*") at++
  return at === pattern.length
}

/** What reads the same everywhere but for its case: of plain characters, without a dot or blank at its end. */
const PLAIN_NAME = /^[!-}]*[!-\-/-}]$/u

/** What some file systems pass over in a name: what turns the direction of text, joins, fills, or chooses a variant. */
const UNSEEN = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** A component of a path as the laxest file system would read it. */
export function foldName(name: string): string {
  if (PLAIN_NAME.test(name)) return name.toLowerCase()
  // Composed again at the end: marks that were kept apart by what is passed over now stand beside their letters.
  const folded = withoutCase(name.normalize("NFKC").replace(UNSEEN, ""))
    .normalize("NFKC")
    .replace(/[. ]+$/u, "")
  // The short name that NTFS gives a repository's folder.
  return folded === "git~1" ? ".git" : folded
}

/** By both cases, since `ß` is `SS` in capitals; the last sigma of a word is one like others. */
function withoutCase(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ")
}

/**
 * A pattern of a name, as folded names are held against it. One that makes an exception lets through no more than it
 * did before it was folded: what only folding makes a wildcard stays what it was.
 */
export function foldPattern(pattern: string, exception = false): string {
  const folded = foldName(pattern)
  const wider = exception && wildcardsIn(folded) !== wildcardsIn(pattern)
  return wider || (exception && /[. ]$/u.test(pattern)) ? pattern.toLowerCase() : folded
}

const wildcardsIn = (pattern: string): number => pattern.match(/[*?]/gu)?.length ?? 0

/** Whether a pattern with `*` (any characters) and `?` (one) matches a whole text. Linear but for the last `*`. */
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
      at++
      index++
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

/** A component of a path as the laxest file system would read it. */
export function foldName(name: string): string {
  if (PLAIN_NAME.test(name)) return name.toLowerCase()
  const folded = name
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/[. ]+$/u, "")
    .toLowerCase()
  // The short name that NTFS gives a repository's folder.
  return folded === "git~1" ? ".git" : folded
}

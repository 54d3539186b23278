/**
 * Whether words say no more than the first lines of results that are shown already: `Created b.txt.` says what
 * `Created /home/me/b.txt.` says, since names of files may be given from the workspace on.
 */
export function standsAbove(words: string, results: readonly string[]): boolean {
  const said = wordsOf(words)
  const firstLines = results.map((result) => wordsOf(result.trim().split("\n")[0]!)).filter(({ length }) => length > 0)
  let at = 0
  while (at < said.length) {
    const line = firstLines.find((each) => each.every((word, index) => isSame(said[at + index], word)))
    if (line === undefined) return false
    at += line.length
  }
  return at > 0
}

const wordsOf = (text: string): string[] => text.trim().split(/\s+/).filter(Boolean)

/** A sentence may end in a point where its line does not. */
function isSame(said: string | undefined, shown: string): boolean {
  if (said === undefined) return false
  return [said, said.replace(/\.$/, "")].some((word) => word === shown || shown.endsWith(`/${word}`))
}

/**
 * The candidates that a misspelt word most likely meant, best first: within a third of its length by edit distance, or
 * one containing the other. Case and the separators `_`, `-`, `.` do not count.
 */
export function nearest(word: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = plain(word)
  if (wanted === "") return []
  const scored: { candidate: string; score: number }[] = []
  for (const candidate of candidates) {
    const offered = plain(candidate)
    const distance = editDistance(wanted, offered)
    const contained = wanted.length > 2 && offered.length > 2 && (offered.includes(wanted) || wanted.includes(offered))
    if (distance <= Math.max(1, Math.floor(wanted.length / 3))) scored.push({ candidate, score: distance })
    else if (contained) scored.push({ candidate, score: 100 + distance })
  }
  return scored
    .sort((a, b) => a.score - b.score)
    .slice(0, most)
    .map(({ candidate }) => candidate)
}

function plain(word: string): string {
  return word
    .slice(0, 256)
    .toLowerCase()
    .replaceAll(/[_.\-\s]/g, "")
    .slice(0, 128)
}

/** Edit distance with transpositions of neighbours (optimal string alignment). */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row++) {
    const current = [row]
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(previous[column]! + 1, current[column - 1]! + 1, previous[column - 1]! + (same ? 0 : 1))
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        cost = Math.min(cost, before[column - 2]! + 1)
      }
      current.push(cost)
    }
    before = previous
    previous = current
  }
  return previous[b.length]!
}

/** Finds markers in text, character by character (Knuth, Morris and Pratt; Aho and Corasick for several). */

export interface MarkerAutomaton {
  readonly start: number
  step(state: number, codePoint: number): number
  /** Whether a marker has just been read to its end. */
  complete(state: number): boolean
  /** Whether any character in the range carries a marker on. */
  within(state: number, range: { first: number; last: number }): boolean
}

export function markerAutomaton(markers: readonly string[]): MarkerAutomaton {
  const edges: Map<number, number>[] = [new Map()]
  const ends = [false]
  for (const marker of markers) {
    let node = 0
    for (const character of marker) {
      const code = character.codePointAt(0)!
      let next = edges[node]!.get(code)
      if (next === undefined) {
        next = edges.push(new Map()) - 1
        ends.push(false)
        edges[node]!.set(code, next)
      }
      node = next
    }
    if (marker !== "") ends[node] = true
  }
  const fallback = edges.map(() => 0)
  const queue = [...edges[0]!.values()]
  for (let node = queue.shift(); node !== undefined; node = queue.shift()) {
    ends[node] = ends[node]! || ends[fallback[node]!]!
    for (const [code, child] of edges[node]!) {
      fallback[child] = step(fallback[node]!, code)
      queue.push(child)
    }
  }

  function step(state: number, codePoint: number): number {
    for (let node = state; ; node = fallback[node]!) {
      const next = edges[node]!.get(codePoint)
      if (next !== undefined) return next
      if (node === 0) return 0
    }
  }

  return {
    start: 0,
    step,
    complete: (state) => ends[state]!,
    within: (state, { first, last }) => [...edges[state]!.keys()].some((code) => code >= first && code <= last),
  }
}

/**
 * The spans of a text as a graph: a suffix automaton of the texts that begin at a border, ends marked.
 *
 * That is the subset construction over places in the text. It stays linear (at most twice as many states as characters)
 * because two sets of places have either nothing in common, or one holds the other: whether a span may begin at a place
 * is seen from the two characters there, and so from any longer span that runs through it. The online construction is
 * that of A. Blumer et al. (1985), begun at borders alone as S. Inenaga and M. Takeda do for words (2006).
 */
import { type DraftGraph, finishGraph, type TextGraph } from "../lexeme/text-graph.ts"
import { type Borders, isWhite, SLASH } from "./borders.ts"

/** All spans, or those without white space, which may also end before a "/"; undefined where there are none. */
export function spanGraph(borders: Borders, kind: "span" | "path"): TextGraph | undefined {
  return finishGraph(draftSpans(borders, kind === "path", [[0, borders.codes.length]]), 0)
}

/** Bounds below this are kept to more closely. */
const SHORT = 200

/**
 * Spans of at most `most` characters: not all of them, since the graph would have to count from every start, but all of
 * up to half of that, or three quarters where it is little. They are those that lie in one of the sections of that
 * length into which the text is cut, which overlap.
 */
export function boundedSpanGraph(borders: Borders, most: number): TextGraph | undefined {
  const size = borders.codes.length
  const step = Math.ceil(most / (most < SHORT ? 4 : 2))
  const sections: [number, number][] = []
  for (let from = 0; from < size; from += step) {
    sections.push([from, Math.min(from + most, size)])
    if (from + most >= size) break
  }
  return finishGraph(draftSpans(borders, false, sections), 0)
}

/** @param sections of the text, each read by itself */
function draftSpans(
  { codes, starts, ends }: Borders,
  words: boolean,
  sections: readonly (readonly [from: number, to: number])[],
): DraftGraph {
  const edges: Map<number, number>[] = [new Map()]
  const length = [0]
  const link = [-1]
  const accept = [false]
  const ending: number[] = []
  const add = (size: number, to: number, own: Map<number, number>): number => {
    length.push(size)
    link.push(to)
    accept.push(false)
    return edges.push(own) - 1
  }
  /** The state of the longer of the texts that end in `q`, apart from those that come from `p` by the character. */
  const split = (p: number, code: number, q: number): number => {
    if (length[q] === length[p]! + 1) return q
    const copy = add(length[p]! + 1, link[q]!, new Map(edges[q]))
    link[q] = copy
    for (let at = p; at >= 0 && edges[at]!.get(code) === q; at = link[at]!) edges[at]!.set(code, copy)
    return copy
  }
  /**
   * The state after one more character, from that of the longest text that is being read. @param floor 1 where no text
   * may begin here
   */
  const read = (last: number, code: number, floor: 0 | 1): number => {
    const known = edges[last]!.get(code)
    if (known !== undefined) return split(last, code, known)
    const next = add(length[last]! + 1, 0, new Map())
    let p = last
    for (; p >= floor && !edges[p]!.has(code); p = link[p]!) edges[p]!.set(code, next)
    if (p >= floor) link[next] = split(p, code, edges[p]!.get(code)!)
    return next
  }
  for (const [from, to] of sections) {
    let last = 0
    for (let at = from; at < to; at++) {
      const code = codes[at]!
      const floor = starts[at] === 1 ? 0 : 1
      if (code === 0 || (words && isWhite(code))) last = 0
      else if (last >= floor) {
        last = read(last, code, floor)
        if (ends[at + 1] === 1 || (words && codes[at + 1] === SLASH)) ending.push(last)
      }
    }
  }
  for (const state of ending) for (let at = state; at > 0 && !accept[at]; at = link[at]!) accept[at] = true
  return { edges, accept }
}

/** Beyond so many states for each of one path's, paths are not joined. */
const MAX_GROWTH = 6

/**
 * Nor beyond so many edges looked at: a text of the same few characters over and over leaves a second path at thousands
 * of places at once.
 */
const MOST_STEPS = 100_000

/** A place in a path, or in two of them with a "/" between. */
interface Place {
  /** Where the text is as one path, -1 where it is none. */
  readonly one: number
  /** Where it may be in a second. */
  readonly second: readonly number[]
  /** Just after a "/". */
  readonly slash: boolean
  /** Just after the joining "/". */
  readonly joined: boolean
}

/** Where a character leads from a place. */
type Arrival = { one: number; second: number[]; joined: boolean }

/** A path, or two of them with a "/" between them that has none beside it. */
export function joinedPaths(paths: TextGraph): TextGraph {
  return new PathJoiner(paths).joined() ?? paths
}

/** Goes through the places of a path and a second one at once, each place once. */
class PathJoiner {
  readonly #paths: TextGraph
  readonly #draft: DraftGraph = { edges: [], accept: [] }
  readonly #numbers = new Map<string, number>()
  readonly #places: Place[] = []
  #steps = 0

  constructor(paths: TextGraph) {
    this.#paths = paths
  }

  /** @returns undefined where the graph would be too large */
  joined(): TextGraph | undefined {
    this.#visit({ one: this.#paths.start, second: [], slash: true, joined: false })
    for (let index = 0; index < this.#places.length; index++) {
      if (this.#places.length > MAX_GROWTH * this.#paths.size + 1_000 || this.#steps > MOST_STEPS) return undefined
      for (const [code, { one, second, joined }] of this.#arrivals(this.#places[index]!)) {
        const place = { one, second: second.toSorted((a, b) => a - b), slash: code === SLASH && one >= 0, joined }
        this.#draft.edges[index]!.set(code, this.#visit(place))
      }
    }
    return finishGraph(this.#draft, 0)!
  }

  #visit(place: Place): number {
    const { accept } = this.#paths
    const key = `${place.one};${place.second.join()};${place.slash};${place.joined}`
    let number = this.#numbers.get(key)
    if (number === undefined) {
      this.#numbers.set(key, (number = this.#places.push(place) - 1))
      this.#draft.edges.push(new Map())
      this.#draft.accept.push(
        (place.one >= 0 && accept[place.one] === 1) || place.second.some((state) => accept[state] === 1),
      )
    }
    return number
  }

  #arrivals({ one, second, slash, joined }: Place): Map<number, Arrival> {
    const { first, codes, targets, accept, start } = this.#paths
    const arrivals = new Map<number, Arrival>()
    const at = (code: number): Arrival => {
      let found = arrivals.get(code)
      if (found === undefined) arrivals.set(code, (found = { one: -1, second: [], joined: false }))
      return found
    }
    if (one >= 0) {
      for (let edge = first[one]!; edge < first[one + 1]!; edge++) at(codes[edge]!).one = targets[edge]!
      if (accept[one] === 1 && !slash) at(SLASH).joined = true
    }
    for (const state of joined ? [...second, start] : second) {
      this.#steps += first[state + 1]! - first[state]!
      for (let edge = first[state]!; edge < first[state + 1]!; edge++) {
        if (codes[edge] === SLASH && state === start) continue
        const list = at(codes[edge]!).second
        if (!list.includes(targets[edge]!)) list.push(targets[edge]!)
      }
    }
    return arrivals
  }
}

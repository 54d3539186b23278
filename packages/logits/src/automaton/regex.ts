/** From a pattern to an automaton: Thompson's construction, then subsets, within bounds. */
import type { CodePointRange } from "./ranges.ts"
import { complementDfa, intersectDfa } from "./dfa-algebra.ts"
import { type Dfa, finishDfa, MAX_DFA_STATES, withSurrogateCuts } from "./dfa.ts"
import { anyCharacter, parseRegex, type RegexNode, RegexProblem } from "./regex-syntax.ts"
import { writtenOf } from "./written.ts"

/** A repetition is written out; a pattern that grows beyond this many nodes is refused. */
const MAX_NFA_NODES = 30_000

interface Nfa {
  /** Edges that read nothing: always, only at the beginning, only at the end. */
  free: number[][]
  atStart: number[][]
  atEnd: number[][]
  reads: { ranges: readonly CodePointRange[]; to: number }[][]
  final: number
}

/**
 * The texts in which the pattern is found somewhere, as JSON Schema's `pattern` has it.
 *
 * @throws RegexProblem where the pattern is malformed, not regular, or too large
 */
export function compilePattern(source: string): Dfa {
  const tree = parseRegex(source)
  const { ahead, rest } = leadingLookAheads(tree)
  let dfa = determinise(buildNfa(found(rest)))
  for (const condition of ahead) {
    const holds = determinise(buildNfa({ kind: "sequence", parts: [{ kind: "start" }, condition.of, everything] }))
    dfa = intersectDfa(dfa, condition.negated ? complementDfa(holds) : holds)
  }
  const written = ahead.length > 0 ? undefined : writtenOf(tree)
  return written === undefined ? dfa : { ...dfa, written: [written] }
}

const everything: RegexNode = { kind: "repeat", of: anyCharacter, min: 0, max: undefined }
const found = (tree: RegexNode): RegexNode => ({ kind: "sequence", parts: [everything, tree, everything] })

/** `^(?=a)(?!b)c` is c, and a from the beginning, and not b from the beginning. */
function leadingLookAheads(tree: RegexNode): { ahead: Extract<RegexNode, { kind: "ahead" }>[]; rest: RegexNode } {
  if (tree.kind !== "sequence" || tree.parts[0]?.kind !== "start") return { ahead: [], rest: tree }
  let count = 1
  const ahead: Extract<RegexNode, { kind: "ahead" }>[] = []
  for (let part = tree.parts[count]; part?.kind === "ahead"; part = tree.parts[count]) {
    ahead.push(part)
    count++
  }
  return { ahead, rest: { kind: "sequence", parts: [{ kind: "start" }, ...tree.parts.slice(count)] } }
}

function buildNfa(tree: RegexNode): Nfa {
  return new NfaBuilder().build(tree)
}

/** Adds an expression's parts, one behind the other, to an automaton that grows. */
class NfaBuilder {
  readonly #nfa: Nfa = { free: [], atStart: [], atEnd: [], reads: [], final: 0 }

  build(tree: RegexNode): Nfa {
    const start = this.#node()
    this.#nfa.final = this.#add(tree, start)
    return this.#nfa
  }

  #node(): number {
    if (this.#nfa.free.length >= MAX_NFA_NODES) throw new RegexProblem("the pattern's repetitions are too large")
    this.#nfa.atStart.push([])
    this.#nfa.atEnd.push([])
    this.#nfa.reads.push([])
    return this.#nfa.free.push([]) - 1
  }

  #add(tree: RegexNode, from: number): number {
    switch (tree.kind) {
      case "chars": {
        const to = this.#node()
        this.#nfa.reads[from]!.push({ ranges: tree.ranges, to })
        return to
      }
      case "sequence":
        return tree.parts.reduce((at, part) => this.#add(part, at), from)
      case "choice": {
        const to = this.#node()
        for (const option of tree.options) this.#nfa.free[this.#add(option, from)]!.push(to)
        return to
      }
      case "repeat":
        return this.#addRepeat(tree, from)
      case "start": {
        const to = this.#node()
        this.#nfa.atStart[from]!.push(to)
        return to
      }
      case "end": {
        const to = this.#node()
        this.#nfa.atEnd[from]!.push(to)
        return to
      }
      case "ahead":
        throw new RegexProblem("look-ahead is supported at the beginning of the pattern only")
    }
  }

  #addRepeat({ of, min, max }: Extract<RegexNode, { kind: "repeat" }>, from: number): number {
    let at = from
    for (let count = 0; count < min; count++) at = this.#add(of, at)
    if (max === undefined) {
      const loop = this.#node()
      this.#nfa.free[at]!.push(loop)
      this.#nfa.free[this.#add(of, loop)]!.push(loop)
      const out = this.#node()
      this.#nfa.free[loop]!.push(out)
      return out
    }
    const out = this.#node()
    for (let count = min; count < max; count++) {
      this.#nfa.free[at]!.push(out)
      at = this.#add(of, at)
    }
    this.#nfa.free[at]!.push(out)
    return out
  }
}

function determinise(nfa: Nfa): Dfa {
  const { cuts, classOf, classes, edgeClasses } = classify(nfa)
  const close = (seeds: readonly number[], start: boolean, end: boolean): number[] => {
    const seen = new Set(seeds)
    const queue = [...seeds]
    for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
      const next = [nfa.free[at]!, start ? nfa.atStart[at]! : [], end ? nfa.atEnd[at]! : []]
      for (const targets of next) {
        for (const target of targets) {
          if (seen.has(target)) continue
          seen.add(target)
          queue.push(target)
        }
      }
    }
    return [...seen].toSorted((a, b) => a - b)
  }
  const reach: (number[] | undefined)[] = []
  const stamps = new Uint32Array(nfa.free.length)
  let stamp = 0
  /** The closure of several, put together from what each reaches by itself. */
  const closeAll = (seeds: Iterable<number>): number[] => {
    const result: number[] = []
    stamp++
    for (const seed of seeds) {
      for (const at of (reach[seed] ??= close([seed], false, false))) {
        if (stamps[at] === stamp) continue
        stamps[at] = stamp
        result.push(at)
      }
    }
    return result.sort((a, b) => a - b)
  }
  const numbers = new Map<string, number>()
  const sets: number[][] = []
  const accept: boolean[] = []
  const table: number[] = []
  let work = 0
  const visit = (set: number[], start: boolean): number => {
    if (set.length === 0) return -1
    // The empty text is at its beginning and at its end at once, so the first state is told apart from all others.
    const key = `${start ? "^" : ""}${set.join()}`
    const known = numbers.get(key)
    if (known !== undefined) return known
    if (sets.length >= MAX_DFA_STATES || (work += set.length) > 2_000_000)
      throw new RegexProblem("the pattern needs too many states")
    numbers.set(key, sets.length)
    accept.push(close(set, start, true).includes(nfa.final))
    return sets.push(set) - 1
  }
  const start = visit(close([0], true, false), true)
  for (let index = 0; index < sets.length; index++) {
    const targets: Set<number>[] = Array.from({ length: classes }, () => new Set())
    for (const at of sets[index]!) {
      for (const edge of nfa.reads[at]!) for (const c of edgeClasses.get(edge)!) targets[c]!.add(edge.to)
    }
    for (const target of targets) table.push(target.size === 0 ? -1 : visit(closeAll(target), false))
  }
  return finishDfa({ start, cuts, classOf, classes, table, accept })
}

/**
 * Cuts the code-point line so that every edge reads whole classes; intervals that no edge tells apart share a class.
 */
function classify(nfa: Nfa) {
  const edges = nfa.reads.flat()
  const distinct = [...new Set(edges.map((edge) => edge.ranges))]
  const cuts = withSurrogateCuts(
    distinct.flatMap((ranges) => ranges.flatMap(([first, last]) => (last < 0x10ffff ? [first, last + 1] : [first]))),
  )
  const signatures: string[] = Array.from({ length: cuts.length }, () => "")
  distinct.forEach((ranges, index) => {
    let at = 0
    for (const [first, last] of ranges) {
      while (cuts[at]! < first) at++
      for (; at < cuts.length && cuts[at]! <= last; at++) signatures[at] += `${index},`
    }
  })
  const classes = new Map<string, number>()
  const classOf = signatures.map(
    (signature) => classes.get(signature) ?? (classes.set(signature, classes.size), classes.size - 1),
  )
  const byRanges = new Map<readonly CodePointRange[], number[]>()
  distinct.forEach((ranges, index) => {
    const mine = [...classes].filter(([signature]) => `,${signature}`.includes(`,${index},`)).map(([, c]) => c)
    byRanges.set(ranges, mine)
  })
  const edgeClasses = new Map(edges.map((edge) => [edge, byRanges.get(edge.ranges)!] as const))
  return { cuts, classOf, classes: classes.size, edgeClasses }
}

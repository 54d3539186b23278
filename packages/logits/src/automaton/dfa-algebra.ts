/** Boolean operations on languages, and languages out of lists of texts. */
import { memory } from "@toolwright/toolbox"
import { classIndex, type Dfa, finishDfa, MAX_DFA_STATES, withSurrogateCuts } from "./dfa.ts"
import type { RawDfa } from "./equal-states.ts"
import { RegexProblem } from "./regex-syntax.ts"

export const ANY_TEXT: Dfa = finishDfa({ start: 0, cuts: [0], classOf: [0], classes: 1, table: [0], accept: [true] })
export const NO_TEXT: Dfa = finishDfa({ start: 0, cuts: [0], classOf: [0], classes: 1, table: [-1], accept: [false] })

const meetsOf = memory.derived((_dfa: Dfa) => new WeakMap<Dfa, Dfa>())
/** The complement, once it is known: both ways, since each is the other's. */
const complementOf = memory.derived((_dfa: Dfa): { dfa?: Dfa } => ({}))

/** @throws RegexProblem where the product has too many states */
export function intersectDfa(a: Dfa, b: Dfa): Dfa {
  if (a === b || b === ANY_TEXT) return a
  if (a === ANY_TEXT) return b
  const known = meetsOf(a)
  let result = known.get(b)
  if (result === undefined) known.set(b, (result = finishDfa(product(a, b, (x, y) => x && y))))
  return result
}

export function complementDfa(dfa: Dfa): Dfa {
  const known = complementOf(dfa)
  if (known.dfa !== undefined) return known.dfa
  const sink = dfa.size
  const table = Array.from(dfa.table, (target) => (target < 0 ? sink : target))
  for (let c = 0; c < dfa.classes; c++) table.push(sink)
  const result = finishDfa({
    start: dfa.start < 0 ? sink : dfa.start,
    cuts: [...dfa.cuts],
    classOf: [...dfa.classOf],
    classes: dfa.classes,
    table,
    accept: [...Array.from(dfa.accept, (accepts) => accepts === 0), true],
  })
  known.dfa = result
  complementOf(result).dfa = dfa
  return result
}

function product(a: Dfa, b: Dfa, accepts: (x: boolean, y: boolean) => boolean): RawDfa {
  const { cuts, classOf, pairs } = jointClasses(a, b)
  const raw: RawDfa = { start: -1, cuts, classOf, classes: pairs.length, table: [], accept: [] }
  const numbers = new Map<number, number>()
  const states: [number, number][] = []
  const visit = (x: number, y: number): number => {
    if (x < 0 || y < 0) return -1
    const key = x * (b.size + 1) + y
    const known = numbers.get(key)
    if (known !== undefined) return known
    if (states.length >= 4 * MAX_DFA_STATES) throw new RegexProblem("the patterns together need too many states")
    numbers.set(key, states.length)
    raw.accept.push(accepts(a.accept[x] === 1, b.accept[y] === 1))
    return states.push([x, y]) - 1
  }
  raw.start = visit(a.start, b.start)
  for (let index = 0; index < states.length; index++) {
    const [x, y] = states[index]!
    for (const [c, d] of pairs) raw.table.push(visit(a.table[x * a.classes + c]!, b.table[y * b.classes + d]!))
  }
  if (raw.accept.length === 0) return { ...raw, start: 0, table: pairs.map(() => -1), accept: [false] }
  return raw
}

/** Whether some text is in both languages, found out without building their product. */
export function haveCommonText(a: Dfa, b: Dfa): boolean {
  if (a.start < 0 || b.start < 0) return false
  if (a === b || a === ANY_TEXT || b === ANY_TEXT) return true
  const { pairs } = jointClasses(a, b)
  const seen = new Set<number>()
  const queue: [number, number][] = [[a.start, b.start]]
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    const [x, y] = at
    if (a.accept[x] === 1 && b.accept[y] === 1) return true
    for (const [c, d] of pairs) {
      const [p, q] = [a.table[x * a.classes + c]!, b.table[y * b.classes + d]!]
      if (p < 0 || q < 0 || seen.has(p * (b.size + 1) + q)) continue
      seen.add(p * (b.size + 1) + q)
      queue.push([p, q])
    }
  }
  return false
}

/** The intervals of both, each with the pair of classes that it has in one and the other. */
export function jointClasses(a: Dfa, b: Dfa): { cuts: number[]; classOf: number[]; pairs: [number, number][] } {
  const cuts = withSurrogateCuts([...a.cuts, ...b.cuts])
  const pairs: [number, number][] = []
  const numbers = new Map<number, number>()
  const classOf = cuts.map((cut) => {
    const c = classIndex(a, cut)
    const d = classIndex(b, cut)
    const key = c * 65_536 + d
    let number = numbers.get(key)
    if (number === undefined) {
      numbers.set(key, (number = pairs.length))
      pairs.push([c, d])
    }
    return number
  })
  return { cuts, classOf, pairs }
}

/** Exactly these texts: a tree of letters, not made minimal, so that long lists stay cheap. */
export function dfaOfTexts(texts: Iterable<string>): Dfa {
  const edges: Map<number, number>[] = [new Map()]
  const accept = [0]
  const letters = new Set<number>()
  let some = false
  for (const text of texts) {
    if (!text.isWellFormed()) continue
    some = true
    let state = 0
    for (const character of text) {
      const code = character.codePointAt(0)!
      letters.add(code)
      let next = edges[state]!.get(code)
      if (next === undefined) {
        next = edges.push(new Map()) - 1
        accept.push(0)
        edges[state]!.set(code, next)
      }
      state = next
    }
    accept[state] = 1
  }
  if (!some) return NO_TEXT
  const cuts = withSurrogateCuts([...letters].flatMap((code) => [code, code + 1])).filter((cut) => cut <= 0x10ffff)
  const classes = new Map([...letters].map((code, index) => [code, index + 1]))
  const count = letters.size + 1
  const table = new Int32Array(edges.length * count).fill(-1)
  edges.forEach((targets, state) => {
    for (const [code, target] of targets) table[state * count + classes.get(code)!] = target
  })
  return {
    start: 0,
    size: edges.length,
    cuts: Int32Array.from(cuts),
    classOf: Uint16Array.from(cuts, (cut) => classes.get(cut) ?? 0),
    classes: count,
    table,
    accept: Uint8Array.from(accept),
  }
}

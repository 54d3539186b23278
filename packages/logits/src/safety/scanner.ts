import { isWord, type Node } from "./pattern.ts"

/** A match: which rule, and from where to where in the text, in UTF-16 code units. */
export interface Match {
  readonly rule: number
  readonly start: number
  readonly end: number
}

/** A machine of all rules together. */
export interface Machine {
  readonly nodes: readonly Node[]
  /** Where each rule begins. */
  readonly starts: readonly number[]
  /** Which rules can begin with a code unit; filled as code units are seen. */
  readonly starters: Map<number, number[]>
  /** Which rule is complete in a state whatever follows; filled as states are reached. */
  readonly settled: Map<number, number>
}

/** A place in text: the states that are alive with where their match began. Never changes once made. */
export interface ScanState {
  readonly at: number
  /** The code unit before; -1 at the beginning. */
  readonly before: number
  readonly alive: ReadonlyMap<number, number>
}

export const SCAN_START: ScanState = { at: 0, before: -1, alive: new Map() }
const END = -1

/** Goes on over more text; every match that it completes is given to `found`. */
export function scan(machine: Machine, state: ScanState, text: string, found: (match: Match) => void): ScanState {
  let { at, before, alive } = state
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const next = new Map<number, number>()
    step(machine, { at, before, alive }, code, found, next)
    alive = next
    before = code
    at++
  }
  return { at, before, alive }
}

/** Reports what is complete if the text ends here. */
export function scanEnd(machine: Machine, state: ScanState, found: (match: Match) => void): void {
  step(machine, state, END, found, new Map())
}

function step(
  machine: Machine,
  state: ScanState,
  code: number,
  found: (match: Match) => void,
  next: Map<number, number>,
): void {
  const visitor = new Visitor(machine, state, code, found, next)
  // The oldest first, so that a state keeps the match that began earliest.
  for (const [node, start] of [...state.alive].sort((a, b) => a[1] - b[1])) visitor.visit(node, start)
  if (code !== END) for (const start of startersFor(machine, code)) visitor.visit(start, state.at)
}

/** Follows states past one code unit, or past the end of the text. */
class Visitor {
  readonly #machine: Machine
  readonly #state: ScanState
  readonly #code: number
  readonly #found: (match: Match) => void
  /** The states behind the code unit, with where their match began. */
  readonly #next: Map<number, number>
  readonly #seen = new Map<number, number>()
  readonly #open: [number, number][] = []

  constructor(
    machine: Machine,
    state: ScanState,
    code: number,
    found: (match: Match) => void,
    next: Map<number, number>,
  ) {
    this.#machine = machine
    this.#state = state
    this.#code = code
    this.#found = found
    this.#next = next
  }

  visit(first: number, start: number): void {
    this.#open.push([first, start])
    for (let entry = this.#open.pop(); entry !== undefined; entry = this.#open.pop()) {
      const [node, from] = entry
      const known = this.#seen.get(node)
      if (known !== undefined && known <= from) continue
      this.#seen.set(node, from)
      this.#pass(this.#machine.nodes[node]!, from)
    }
  }

  #pass(node: Node, from: number): void {
    switch (node.op) {
      case "found":
        return this.#found({ rule: node.rule, start: from, end: this.#state.at })
      case "split":
        for (const to of node.next) this.#open.push([to, from])
        return
      case "end":
        if (isLineEnd(this.#code)) this.#open.push([node.next, from])
        return
      case "boundary":
        if (this.#isBoundary()) this.#open.push([node.next, from])
        return
      case "character":
        if (this.#code !== END && node.matches(this.#code)) this.#arrive(node.next, from)
    }
  }

  #isBoundary(): boolean {
    const { before } = this.#state
    return (before >= 0 && isWord(before)) !== (this.#code !== END && isWord(this.#code))
  }

  #arrive(node: number, from: number): void {
    const other = this.#next.get(node)
    if (other !== undefined && from >= other) return
    this.#next.set(node, from)
    // What needs no look at the next character is complete now.
    const rule = settledRule(this.#machine, node)
    if (rule >= 0) this.#found({ rule, start: from, end: this.#state.at + 1 })
  }
}

const isLineEnd = (code: number): boolean => code === END || code === 10 || code === 13

/** The rule that is complete in a state whatever follows; -1 if none. */
function settledRule(machine: Machine, node: number): number {
  const known = machine.settled.get(node)
  if (known !== undefined) return known
  machine.settled.set(node, -1)
  const todo = machine.nodes[node]!
  const rule =
    todo.op === "found"
      ? todo.rule
      : todo.op === "split"
        ? Math.max(-1, ...todo.next.map((next) => settledRule(machine, next)))
        : -1
  machine.settled.set(node, rule)
  return rule
}

function startersFor(machine: Machine, code: number): readonly number[] {
  const known = machine.starters.get(code)
  if (known !== undefined) return known
  const list = machine.starts.filter((start) => canBegin(machine.nodes, start, code))
  if (machine.starters.size < 4096) machine.starters.set(code, list)
  return list
}

function canBegin(nodes: readonly Node[], start: number, code: number): boolean {
  const seen = new Set<number>()
  const open = [start]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (seen.has(node)) continue
    seen.add(node)
    const todo = nodes[node]!
    if (todo.op === "character") {
      if (todo.matches(code)) return true
    } else if (todo.op === "split") open.push(...todo.next)
    else if (todo.op !== "found") open.push(todo.next)
  }
  return false
}

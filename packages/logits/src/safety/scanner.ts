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
  { at, before, alive }: ScanState,
  code: number,
  found: (match: Match) => void,
  next: Map<number, number>,
): void {
  const { nodes } = machine
  const seen = new Map<number, number>()
  const open: [number, number][] = []
  const visit = (first: number, start: number): void => {
    open.push([first, start])
    for (let entry = open.pop(); entry !== undefined; entry = open.pop()) {
      const [node, from] = entry
      const known = seen.get(node)
      if (known !== undefined && known <= from) continue
      seen.set(node, from)
      const todo = nodes[node]!
      if (todo.op === "found") found({ rule: todo.rule, start: from, end: at })
      else if (todo.op === "split") for (const to of todo.next) open.push([to, from])
      else if (todo.op === "end") {
        if (code === END || code === 10 || code === 13) open.push([todo.next, from])
      } else if (todo.op === "boundary") {
        if ((before >= 0 && isWord(before)) !== (code !== END && isWord(code))) open.push([todo.next, from])
      } else if (todo.op === "character" && code !== END && todo.matches(code)) {
        const other = next.get(todo.next)
        if (other !== undefined && from >= other) continue
        next.set(todo.next, from)
        // What needs no look at the next character is complete now.
        const rule = settledRule(machine, todo.next)
        if (rule >= 0) found({ rule, start: from, end: at + 1 })
      }
    }
  }
  // The oldest first, so that a state keeps the match that began earliest.
  for (const [node, start] of [...alive].sort((a, b) => a[1] - b[1])) visit(node, start)
  if (code !== END) for (const start of startersFor(machine, code)) visit(start, at)
}

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

/** Which states of an automaton behave alike: Hopcroft's refinement, so that long circles of states stay cheap. */
/** A language with a working table that may still have dead and equal states. */
export interface RawDfa {
  start: number
  cuts: readonly number[]
  classOf: readonly number[]
  classes: number
  table: number[]
  accept: boolean[]
}

/** The block number of every live state, -1 for dead ones; states of one block accept the same texts from there on. */
export function equalStates(raw: RawDfa, live: readonly boolean[]): Int32Array {
  const count = raw.accept.length
  const before = inverse(raw, live)
  const partition = createPartition(count, (state) => (live[state] ? (raw.accept[state] ? 1 : 0) : 2))
  const waiting = new Set(partition.blocks())
  for (const splitter of waiting) {
    waiting.delete(splitter)
    const members = partition.members(splitter)
    for (let c = 0; c < raw.classes; c++) {
      for (const member of members) before(member, c, partition.mark)
      partition.split((whole, part) => {
        // A block that is still to be used is used in both halves; of one that has been, the smaller half is enough.
        waiting.add(waiting.has(whole) || partition.size(part) <= partition.size(whole) ? part : whole)
      })
    }
  }
  return Int32Array.from({ length: count }, (_, state) => (live[state] ? partition.blockOf(state) : -1))
}

/**
 * Walks the states from which a class leads to a state. What leads to a dead state leads nowhere: to any dead state.
 */
function inverse(raw: RawDfa, live: readonly boolean[]) {
  const { classes, table } = raw
  const count = raw.accept.length
  // Everything dead is one block, and stands for the place beyond the automaton too.
  const nowhere = live.indexOf(false)
  const heads = new Int32Array(count * classes).fill(-1)
  const next = new Int32Array(count * classes).fill(-1)
  for (let state = 0; state < count; state++) {
    if (!live[state]) continue
    for (let c = 0; c < classes; c++) {
      const target = table[state * classes + c]!
      const goal = target >= 0 && live[target] ? target : nowhere
      if (goal < 0) continue
      next[state * classes + c] = heads[goal * classes + c]!
      heads[goal * classes + c] = state
    }
  }
  return (state: number, c: number, visit: (from: number) => void): void => {
    for (let from = heads[state * classes + c]!; from >= 0; from = next[from * classes + c]!) visit(from)
  }
}

/** Blocks of states, each a stretch of one list; the marked ones of a block stand at its beginning. */
function createPartition(count: number, firstBlockOf: (state: number) => number) {
  const list = Int32Array.from({ length: count }, (_, state) => state).sort(
    (a, b) => firstBlockOf(a) - firstBlockOf(b) || a - b,
  )
  const place = new Int32Array(count)
  const block = new Int32Array(count)
  const from: number[] = []
  const to: number[] = []
  const marked: number[] = []
  const touched: number[] = []
  list.forEach((state, index) => {
    place[state] = index
    if (index === 0 || firstBlockOf(list[index - 1]!) !== firstBlockOf(state)) {
      from.push(index)
      to.push(index)
      marked.push(0)
    }
    to[to.length - 1] = index + 1
    block[state] = from.length - 1
  })
  const size = (one: number): number => to[one]! - from[one]!
  return {
    size,
    blocks: () => from.keys(),
    blockOf: (state: number) => block[state]!,
    members: (one: number) => list.slice(from[one], to[one]),
    mark(state: number): void {
      const one = block[state]!
      const goal = from[one]! + marked[one]!
      if (place[state]! < goal) return
      if (marked[one] === 0) touched.push(one)
      const other = list[goal]!
      list[place[state]!] = other
      place[other] = place[state]!
      list[goal] = state
      place[state] = goal
      marked[one]!++
    },
    /** Makes the marked part of each block a block of its own, where it is not all of it. */
    split(told: (whole: number, part: number) => void): void {
      for (const one of touched) {
        const border = from[one]! + marked[one]!
        marked[one] = 0
        if (border === to[one]) continue
        const part = from.push(from[one]!) - 1
        to.push(border)
        marked.push(0)
        from[one] = border
        for (let index = from[part]!; index < border; index++) block[list[index]!] = part
        told(one, part)
      }
      touched.length = 0
    },
  }
}

/**
 * Lexemes: deterministic automata over bytes, worked out one transition at a time. A state that is reached is never a
 * dead end:
 * from it some bytes lead to an outcome. Whoever defines a lexeme has to see to that.
 */
import { memory } from "@toolwright/toolbox"

export const DEAD = -1

/**
 * Transitions are kept this much higher: a table of zeros is one of which nothing is known, and costs nothing to make.
 */
const LIFT = 2
const ROW = 256
/** From so many transitions on a state has a row of its own; most are asked for one or two bytes and never again. */
const WORTH_A_ROW = 16

/** How a lexeme behaves, over states of its own choosing. */
export interface LexemeRule<State> {
  readonly start: State
  /** The next state, or undefined where the byte does not belong. */
  step(state: State, byte: number): State | undefined
  /** What has been read, as a number of 0 or more, where the lexeme may end here; -1 where it may not. */
  outcome(state: State): number
  /** Equal for states that behave the same. */
  key(state: State): string | number
  /** The bytes that can come next, where they are few and known without trying. */
  bytes?(state: State): readonly number[] | undefined
  /** Where the state is inside a JSON string in which any text may follow, up to a length: that freedom. */
  freedom?(state: State): Freedom | undefined
  /** A lexeme that many share, in a state that behaves just like this one. */
  canonical?(state: State): Canonical | undefined
  /** Another's state that behaves like this one but after a few bytes. */
  nearly?(state: State): Nearly | undefined
  /** Whether any text of a slice may follow, as long as tokens are, and the lexeme does not end in it. */
  takes?(state: State, slice: number): boolean
  /** Bit n: name n may still be what is read. For lexemes that are narrowed, see {@link narrowLexeme}. */
  ends?(state: State): bigint
  /**
   * The lexeme keeps the text that it reads: it has as many states as there are texts, too many to try a vocabulary on.
   */
  readonly keepsText?: boolean
}

/** The same behaviour elsewhere: a lexeme, a state of it, and what its outcomes are called here. */
export interface Canonical {
  readonly lexeme: Lexeme
  readonly state: number
  readonly outcome: (theirs: number) => number
}

export interface Nearly extends Canonical {
  /** The bytes after which the two part ways. */
  readonly except: readonly number[]
}

/**
 * What may follow inside a JSON string: any `limit` characters, after any of which the string can still be brought to
 * an end.
 */
export interface Freedom {
  /** Infinity where there is no limit. */
  readonly limit: number
  /** Whether every character may be escaped, or only those that have to be and those beyond ASCII. */
  readonly anyEscape: boolean
}

export interface Lexeme {
  readonly start: number
  next(state: number, byte: number): number
  outcome(state: number): number
  bytes(state: number): readonly number[] | undefined
  freedom(state: number): Freedom | undefined
  canonical(state: number): Canonical | undefined
  nearly(state: number): Nearly | undefined
  takes(state: number, slice: number): boolean
  ends(state: number): bigint | undefined
  /** The lexeme of which this one reads only some names, in the same states. */
  readonly narrows?: Lexeme
  readonly keepsText: boolean
}

/** Transitions by state and byte, each asked for once. */
class Transitions {
  readonly #stepTo: (state: number, byte: number) => number
  // One table for all rows: a typed array for each state would cost more than what is written into it.
  #table = new Int32Array(0)
  #rows = 0
  readonly #firsts: number[] = []
  readonly #few: (Map<number, number> | undefined)[] = []

  constructor(stepTo: (state: number, byte: number) => number) {
    this.#stepTo = stepTo
  }

  addState(): void {
    this.#firsts.push(-1)
    this.#few.push(undefined)
  }

  next(state: number, byte: number): number {
    const first = this.#firsts[state]!
    if (first < 0) return this.#nextOfFew(state, byte)
    const known = this.#table[first + byte]!
    if (known !== 0) return known - LIFT
    const target = this.#stepTo(state, byte)
    this.#table[first + byte] = target + LIFT
    return target
  }

  #nextOfFew(state: number, byte: number): number {
    const known = (this.#few[state] ??= new Map())
    let target = known.get(byte)
    if (target === undefined) {
      known.set(byte, (target = this.#stepTo(state, byte)))
      if (known.size >= WORTH_A_ROW) this.#addRow(state, known)
    }
    return target
  }

  #addRow(state: number, known: ReadonlyMap<number, number>): void {
    if (this.#rows * ROW === this.#table.length) {
      const larger = new Int32Array(Math.max(ROW, this.#table.length * 2))
      larger.set(this.#table)
      this.#table = larger
    }
    const first = (this.#firsts[state] = this.#rows++ * ROW)
    for (const [byte, target] of known) this.#table[first + byte] = target + LIFT
    this.#few[state] = undefined
  }
}

/** @param start where the lexeme begins, as a state of the rule */
export function createLexeme<State>(rule: LexemeRule<State>): Lexeme & { visit(state: State): number } {
  const states: State[] = []
  const numbers = new Map<string | number, number>()
  const outcomes: number[] = []
  const transitions = new Transitions((state, byte) => {
    const next = rule.step(states[state]!, byte)
    return next === undefined ? DEAD : visit(next)
  })
  const visit = (state: State): number => {
    const key = rule.key(state)
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, states.length)
    transitions.addState()
    outcomes.push(rule.outcome(state))
    return states.push(state) - 1
  }
  return {
    start: visit(rule.start),
    visit,
    next: (state, byte) => transitions.next(state, byte),
    outcome: (state) => outcomes[state]!,
    bytes: (state) => rule.bytes?.(states[state]!),
    freedom: (state) => rule.freedom?.(states[state]!),
    canonical: (state) => rule.canonical?.(states[state]!),
    nearly: (state) => rule.nearly?.(states[state]!),
    takes: (state, slice) => rule.takes?.(states[state]!, slice) === true,
    ends: (state) => rule.ends?.(states[state]!),
    keepsText: rule.keepsText === true,
  }
}

const encoder = new TextEncoder()
const WHITE_SPACE = [0x20, 0x0a, 0x0d, 0x09]
export const isWhiteSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** One of several texts; the outcome is the index of the one that was read. */
export function literalLexeme(texts: readonly string[]): Lexeme {
  const nodes: { edges: Map<number, number>; outcome: number }[] = [{ edges: new Map(), outcome: -1 }]
  texts.forEach((text, index) => {
    let node = 0
    for (const byte of encoder.encode(text)) {
      const { edges } = nodes[node]!
      let next = edges.get(byte)
      if (next === undefined) edges.set(byte, (next = nodes.push({ edges: new Map(), outcome: -1 }) - 1))
      node = next
    }
    if (nodes[node]!.outcome < 0) nodes[node]!.outcome = index
  })
  return createLexeme<number>({
    start: 0,
    step: (node, byte) => nodes[node]!.edges.get(byte),
    outcome: (node) => nodes[node]!.outcome,
    key: (node) => node,
    bytes: (node) => [...nodes[node]!.edges.keys()],
  })
}

/**
 * A lexeme of which only some names are open. The states stay the same, so that what is known about them is known for
 * every choice: the keys of an object become fewer with each that is written.
 *
 * @param lexeme one that knows for each state which names may still come
 * @param open bit n for name n
 */
export function narrowLexeme(lexeme: Lexeme, open: bigint): Lexeme {
  const isOpen = (state: number): boolean => (lexeme.ends(state)! & open) !== 0n
  return {
    start: lexeme.start,
    next(state, byte) {
      const next = lexeme.next(state, byte)
      return next === DEAD || !isOpen(next) ? DEAD : next
    },
    outcome: (state) => lexeme.outcome(state),
    bytes: (state) => lexeme.bytes(state),
    freedom: () => undefined,
    canonical: () => undefined,
    nearly: () => undefined,
    takes: () => false,
    ends: (state) => lexeme.ends(state)! & open,
    narrows: lexeme,
    keepsText: lexeme.keepsText,
  }
}

/** White space, as much as one likes, and then the lexeme, which must not begin with any itself. */
export function afterWhiteSpace(inner: Lexeme): Lexeme {
  return createLexeme<number>({
    start: -1,
    step(state, byte) {
      if (state < 0 && isWhiteSpace(byte)) return -1
      const next = inner.next(state < 0 ? inner.start : state, byte)
      return next === DEAD ? undefined : next
    },
    outcome: (state) => (state < 0 ? -1 : inner.outcome(state)),
    key: (state) => state,
    bytes(state) {
      const bytes = inner.bytes(state < 0 ? inner.start : state)
      return state < 0 && bytes !== undefined ? [...WHITE_SPACE, ...bytes] : bytes
    },
    freedom: (state) => (state < 0 ? undefined : inner.freedom(state)),
    keepsText: inner.keepsText,
    canonical: (state) => (state < 0 ? undefined : (inner.canonical(state) ?? { lexeme: inner, state, outcome: same })),
    nearly: (state) => (state < 0 ? undefined : inner.nearly(state)),
    takes: (state, slice) => state >= 0 && inner.takes(state, slice),
    ends: (state) => inner.ends(state < 0 ? inner.start : state) ?? NO_ENDS,
  })
}

const same = (outcome: number): number => outcome
const NO_ENDS = 0n
const MAX_SECOND = 1024
/** What follows another lexeme is punctuation mostly, with few states: then both fit into one number. */
const FAR = 2 ** 20

interface ChainedLexeme extends Lexeme {
  /** The chain's state while the first lexeme is in a state of its own. */
  chained(first: number): number
}

const chainsAfter = memory.derived((_first: Lexeme) => new WeakMap<Lexeme, ChainedLexeme>())

function sharedChain(first: Lexeme, second: Lexeme): ChainedLexeme {
  const bySecond = chainsAfter(first)
  let chain = bySecond.get(second)
  if (chain === undefined) bySecond.set(second, (chain = chainLexemes(first, second, (a, b) => a * MAX_SECOND + b)))
  return chain
}

interface ChainState {
  /** The state in the first lexeme, or its outcome once it is through. */
  readonly first: number
  /** The state in the second, -1 before. */
  readonly second: number
}

/** The chain that begins with a shared lexeme. Its outcome is a pair in one number; the second's outcomes are few. */
function chainedTo(shared: Canonical, second: Lexeme, combine: (first: number, second: number) => number): Canonical {
  const lexeme = sharedChain(shared.lexeme, second)
  return {
    lexeme,
    state: lexeme.chained(shared.state),
    outcome: (pair) => combine(shared.outcome(Math.floor(pair / MAX_SECOND)), pair % MAX_SECOND),
  }
}

/**
 * One lexeme after the other. Where the first may end and also go on with a byte, it goes on. The outcome is `combine`
 * of both.
 */
export function chainLexemes(
  first: Lexeme,
  second: Lexeme,
  combine: (first: number, second: number) => number,
): ChainedLexeme {
  const chain = createLexeme<ChainState>({
    start: { first: first.start, second: -1 },
    step(state, byte) {
      if (state.second >= 0) {
        const next = second.next(state.second, byte)
        return next === DEAD ? undefined : { first: state.first, second: next }
      }
      const next = first.next(state.first, byte)
      if (next !== DEAD) return { first: next, second: -1 }
      const outcome = first.outcome(state.first)
      if (outcome < 0) return undefined
      const beyond = second.next(second.start, byte)
      return beyond === DEAD ? undefined : { first: outcome, second: beyond }
    },
    outcome(state) {
      if (state.second >= 0) {
        const outcome = second.outcome(state.second)
        return outcome < 0 ? -1 : combine(state.first, outcome)
      }
      const done = first.outcome(state.first)
      const empty = second.outcome(second.start)
      return done < 0 || empty < 0 ? -1 : combine(done, empty)
    },
    key: ({ first, second }) => (second + 1 < FAR ? first * FAR + second + 1 : `${first},${second}`),
    bytes(state) {
      if (state.second >= 0) return second.bytes(state.second)
      const bytes = first.bytes(state.first)
      if (bytes === undefined || first.outcome(state.first) < 0) return bytes
      const beyond = second.bytes(second.start)
      return beyond === undefined ? undefined : [...new Set([...bytes, ...beyond])]
    },
    freedom: (state) => (state.second >= 0 ? second.freedom(state.second) : first.freedom(state.first)),
    canonical(state) {
      const shared = state.second >= 0 ? undefined : first.canonical(state.first)
      return shared === undefined ? undefined : chainedTo(shared, second, combine)
    },
    nearly(state) {
      const shared = state.second >= 0 || first.outcome(state.first) >= 0 ? undefined : first.nearly(state.first)
      return shared === undefined ? undefined : { ...chainedTo(shared, second, combine), except: shared.except }
    },
    takes: (state, slice) => (state.second >= 0 ? second.takes(state.second, slice) : first.takes(state.first, slice)),
    ends: ({ first: state, second }) => (second >= 0 ? 1n << BigInt(state) : (first.ends(state) ?? NO_ENDS)),
  })
  return { ...chain, chained: (state) => chain.visit({ first: state, second: -1 }) }
}

/** Token masks: which tokens may come next. */
import type { Grammar } from "../grammar/rules.ts"
import type { Lexeme } from "../lexeme/lexeme.ts"
import type { Machine, State, Thread } from "../matcher/machine.ts"
import { grammarError } from "../grammar/grammar-error.ts"
import { createMatcher, machineOf, type Matcher } from "../matcher/matcher.ts"
import { lexemeMask, type LexemeMask, setToken } from "./lexeme-masks.ts"
import { type TailTrie, tailTries } from "./tail-trie.ts"
import { warmTokenizer } from "./warm.ts"
import type { Tokenizer } from "./tokenizer.ts"

export interface MaskEngine {
  readonly tokenizer: Tokenizer
  /**
   * Bit `id & 31` of word `id >> 5` is set where the token's bytes may come next; end tokens are set where the text is
   * whole. The
   * array is shared and remembered: do not write to it.
   */
  mask(state: State): Uint32Array
  /** Follows tokens from the beginning of the grammar. */
  matcher(): TokenMatcher
}

/** A matcher that reads tokens. */
export interface TokenMatcher {
  /** @returns whether the token was allowed; after an end token nothing more is */
  accept(token: number): boolean
  /** What may come next; see {@link MaskEngine.mask}. */
  mask(): Uint32Array
  isComplete(): boolean
  /** Whether an end token has been read. */
  isEnded(): boolean
  /** The bytes that must follow, see {@link Matcher.forced}. */
  forced(): Uint8Array
  /** Takes back the last tokens. @throws RangeError where there are not so many */
  rollback(tokens?: number): void
  clone(): TokenMatcher
  readonly bytes: Matcher
}

/** Masks kept, in bytes; beyond this they are made anew. */
const MAX_BYTES = 96 * 1024 * 1024

/**
 * Makes masks for a grammar over a vocabulary. Costs little by itself: masks are made when first asked for, out of
 * parts that the
 * tokenizer keeps for all grammars.
 *
 * @throws ToolwrightError `INVALID_GRAMMAR`; so does a mask in an array whose unique items are out of endlessly many
 *   values
 */
export function createMaskEngine(grammar: Grammar, tokenizer: Tokenizer): MaskEngine {
  const machine = machineOf(grammar)
  warmTokenizer(tokenizer)
  let ofStates = new Map<State, Uint32Array>()
  let ofThreads = new Map<Thread, Uint32Array>()
  let allocate = maskAllocator(tokenizer.words)
  const most = Math.max(64, Math.floor(MAX_BYTES / (tokenizer.words * 4)))

  function maskOfThread(thread: Thread): Uint32Array {
    let mask = ofThreads.get(thread)
    if (mask === undefined) ofThreads.set(thread, (mask = makeThreadMask(machine, tokenizer, thread, allocate)))
    return mask
  }

  function mask(state: State): Uint32Array {
    const known = ofStates.get(state)
    if (known !== undefined) return known
    if (ofStates.size + ofThreads.size > most) {
      ofStates = new Map()
      ofThreads = new Map()
      allocate = maskAllocator(tokenizer.words)
    }
    const { threads, complete } = state
    let result: Uint32Array
    if (threads.length === 1 && !complete) result = maskOfThread(threads[0]!)
    else {
      result = allocate()
      if (threads.length >= MANY_THREADS) addTogether(machine, tokenizer, threads, result)
      else for (const thread of threads) orInto(result, maskOfThread(thread))
      if (complete) for (const id of tokenizer.eos) setToken(result, id, undefined)
    }
    ofStates.set(state, result)
    return result
  }

  const engine: MaskEngine = { tokenizer, mask, matcher: () => tokenMatcher(engine, createMatcher(grammar), 0, []) }
  return engine
}

/** Masks are cut out of larger pieces: a buffer for each would cost more than what is written into it. */
function maskAllocator(words: number): () => Uint32Array {
  let piece = new Uint32Array(0)
  let next = 0
  let size = 4
  return () => {
    if (next + words > piece.length) {
      size = Math.min(64, size * 2)
      piece = new Uint32Array(words * size)
      next = 0
    }
    next += words
    return piece.subarray(next - words, next)
  }
}

function orInto(into: Uint32Array, other: Uint32Array): void {
  for (let word = 0; word < into.length; word++) into[word]! |= other[word]!
}

/** From so many threads on, what they have in common is looked at once: a choice of hundreds shares its lexemes. */
const MANY_THREADS = 8

/** Threads whose lexemes behave alike. */
interface Alike {
  readonly known: LexemeMask
  /** What follows the lexeme, by how it ends. */
  readonly following: Map<number, State[]>
}

/** Sets what any of the threads allows. */
function addTogether(machine: Machine, tokenizer: Tokenizer, threads: readonly Thread[], mask: Uint32Array): void {
  const groups = new Map<LexemeMask, Alike>()
  const ended: State[] = []
  for (const { lexeme, state, frame } of threads) {
    refuseKeptText(lexeme)
    const { mask: known, outcome: named } = lexemeMask(tokenizer, lexeme, state)
    let group = groups.get(known)
    if (group === undefined) groups.set(known, (group = { known, following: new Map() }))
    for (const outcome of new Set(known.outcomes)) {
      const states = group.following.get(outcome) ?? []
      states.push(machine.afterLexeme(frame, named?.(outcome) ?? outcome))
      group.following.set(outcome, states)
    }
    const here = lexeme.outcome(state)
    if (here >= 0) ended.push(machine.afterLexeme(frame, here))
  }
  for (const { known, following } of groups.values()) {
    const after = new Map([...following].map(([outcome, states]) => [outcome, machine.union(states)]))
    orInto(mask, known.inside)
    addExits(machine, tokenizer, known, (outcome) => after.get(outcome)!, mask)
  }
  if (ended.length > 0) walkState(machine, tokenizer, machine.union(ended), 0, mask)
}

/** Sets the tokens that go on beyond the lexeme's end. */
function addExits(
  machine: Machine,
  tokenizer: Tokenizer,
  known: LexemeMask,
  after: (outcome: number) => State,
  mask: Uint32Array,
): void {
  const { exits, outcomes } = known
  if (exits.length === 0) return
  if (++known.uses >= WORTHWHILE && exits.length > 4) known.tails ??= tailTries(tokenizer, exits, outcomes)
  if (known.tails === undefined)
    exits.forEach((exit, index) => walkState(machine, tokenizer, after(outcomes[index]!), exit, mask))
  else for (const [outcome, tail] of known.tails) walkTail(machine, tokenizer, after(outcome), tail, mask)
}

function refuseKeptText({ keepsText }: Lexeme): void {
  if (!keepsText) return
  throw grammarError("Masks cannot compare the items of an array of endlessly many values.", {
    hint: 'Compile the schema with the option uniqueItems: "finite", and with relaxed where that refuses it.',
  })
}

/** From the second use on, what follows a lexeme is put together. */
const WORTHWHILE = 2

/** What the lexeme allows by itself, and beyond each place where it may end what its stack allows. */
function makeThreadMask(
  machine: Machine,
  tokenizer: Tokenizer,
  { lexeme, state, frame }: Thread,
  allocate: () => Uint32Array,
): Uint32Array {
  refuseKeptText(lexeme)
  const { mask: known, outcome: named } = lexemeMask(tokenizer, lexeme, state)
  const here = lexeme.outcome(state)
  if (known.exits.length === 0 && here < 0) return known.inside
  const mask = allocate()
  mask.set(known.inside)
  addExits(machine, tokenizer, known, (outcome) => machine.afterLexeme(frame, named?.(outcome) ?? outcome), mask)
  // Where the lexeme may end right here, what follows it may begin with the token's first byte.
  if (here >= 0) walkState(machine, tokenizer, machine.afterLexeme(frame, here), 0, mask)
  return mask
}

/** Tries endings from a state. */
function walkTail(machine: Machine, { twins }: Tokenizer, start: State, tail: TailTrie, mask: Uint32Array): void {
  const { byte, depth, skip, first, tokens } = tail
  const states: State[] = [start]
  for (let node = 1; node < byte.length;) {
    const next = machine.step(states[depth[node]! - 1]!, byte[node]!)
    if (next === null) {
      node = skip[node]!
      continue
    }
    states[depth[node]!] = next
    for (let index = first[node]!; index < first[node + 1]!; index++) setToken(mask, tokens[index]!, twins)
    node++
  }
}

/** Tries the tokens below a node of the tree from a state. */
function walkState(machine: Machine, tokenizer: Tokenizer, start: State, above: number, mask: Uint32Array): void {
  const { byte, depth, skip, token, roots } = tokenizer.trie
  const base = depth[above]!
  const states: State[] = []
  states[base] = start
  const walk = (from: number, to: number): void => {
    for (let node = from; node < to;) {
      const level = depth[node]!
      const before = states[level - 1]!
      const next = machine.step(before, byte[node]!)
      if (next === null) {
        node = skip[node]!
        continue
      }
      states[level] = next
      if (token[node]! >= 0) setToken(mask, token[node]!, tokenizer.twins)
      node++
    }
  }
  if (above > 0) walk(above + 1, skip[above]!)
  else for (const first of machine.bytes(start)) if (roots[first]! >= 0) walk(roots[first]!, skip[roots[first]!]!)
}

function tokenMatcher(engine: MaskEngine, bytes: Matcher, ended: number, lengths: readonly boolean[]): TokenMatcher {
  const { tokenizer } = engine
  let ends = ended
  // For each token read: whether it was an end token, which moves nothing.
  let read = [...lengths]
  return {
    bytes,
    accept(token) {
      if (ends > 0) return false
      if (tokenizer.eos.includes(token)) {
        if (!bytes.isComplete()) return false
        ends++
        read.push(true)
        return true
      }
      const text = tokenizer.bytesOf(token)
      if (text === null || text.length === 0 || !bytes.accept(text)) return false
      read.push(false)
      return true
    },
    mask: () => (ends > 0 ? new Uint32Array(tokenizer.words) : engine.mask(bytes.state)),
    isComplete: () => bytes.isComplete(),
    isEnded: () => ends > 0,
    forced: () => (ends > 0 ? new Uint8Array(0) : bytes.forced()),
    rollback(tokens = 1) {
      if (tokens > read.length) throw new RangeError(`there are no ${tokens} tokens to take back`)
      for (let count = 0; count < tokens; count++) {
        if (read.pop() === true) ends--
        else bytes.rollback()
      }
    },
    clone: () => tokenMatcher(engine, bytes.clone(), ends, read),
  }
}

/** Token masks: which tokens may come next. */
import type { Grammar } from "../grammar/rules.ts"
import type { Lexeme } from "../lexeme/lexeme.ts"
import type { Machine, State, Thread } from "../matcher/machine.ts"
import type { Frame } from "../matcher/frames.ts"
import { grammarError } from "../grammar/grammar-error.ts"
import { createMatcher, machineOf, type Matcher } from "../matcher/matcher.ts"
import { isAllowed } from "./apply.ts"
import { maskAllocator } from "./allocator.ts"
import { type Beyond, createBeyond } from "./beyond.ts"
import { lexemeMask, type LexemeMask } from "./lexeme-masks.ts"
import { setToken, unsetToken } from "./set-token.ts"
import { warmTokenizer } from "./warm.ts"
import type { Tokenizer } from "./tokenizer.ts"

export interface MaskEngine {
  readonly tokenizer: Tokenizer
  /**
   * Bit `id & 31` of word `id >> 5` is set where the token's bytes may come next; end tokens are set where the text is
   * whole. The array is shared and remembered: do not write to it.
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
 * parts that the tokenizer keeps for all grammars.
 *
 * @throws ToolwrightError `INVALID_GRAMMAR`; so does a mask in an array whose unique items are out of endlessly many
 *   values
 */
export function createMaskEngine(grammar: Grammar, tokenizer: Tokenizer): MaskEngine {
  const machine = machineOf(grammar)
  warmTokenizer(tokenizer)
  const beyond = createBeyond(machine, tokenizer)
  let ofStates = new Map<State, Uint32Array>()
  let ofThreads = new Map<Thread, Uint32Array>()
  let allocate = maskAllocator(tokenizer.words)
  const most = Math.max(64, Math.floor(MAX_BYTES / (tokenizer.words * 4)))

  /** What the lexeme allows by itself, and beyond each place where it may end what its stack allows. */
  function makeThreadMask({ lexeme, state, frame }: Thread): Uint32Array {
    refuseKeptText(lexeme)
    const { mask: known, outcome: named } = lexemeMask(tokenizer, lexeme, state)
    const whole = known.changes.length === 0 ? known.like : undefined
    if (whole !== undefined && known.exits.nodes.length === 0) return whole
    const mask = allocate()
    if (known.like !== undefined) mask.set(known.like)
    applyChanges(mask, known.changes, tokenizer)
    beyond.add(known.exits, (outcome) => machine.afterLexeme(frame, named?.(outcome) ?? outcome), mask)
    return mask
  }

  function maskOfThread(thread: Thread): Uint32Array {
    let mask = ofThreads.get(thread)
    if (mask === undefined) ofThreads.set(thread, (mask = makeThreadMask(thread)))
    return mask
  }

  function makeMask({ threads, complete }: State): Uint32Array {
    const open = withFollowing(machine, threads)
    if (open.length === 1 && !complete) return maskOfThread(open[0]!)
    const mask = allocate()
    if (open.length >= MANY_THREADS) addTogether({ machine, tokenizer, beyond }, open, mask)
    else
      open.forEach((thread, index) =>
        index === 0 ? mask.set(maskOfThread(thread)) : orInto(mask, maskOfThread(thread)),
      )
    if (complete) for (const id of tokenizer.eos) setToken(mask, id, undefined)
    return mask
  }

  function mask(state: State): Uint32Array {
    const known = ofStates.get(state)
    if (known !== undefined) return known
    if (ofStates.size + ofThreads.size > most) {
      ofStates = new Map()
      ofThreads = new Map()
      allocate = maskAllocator(tokenizer.words)
      beyond.forget()
    }
    const result = makeMask(state)
    ofStates.set(state, result)
    return result
  }

  const engine: MaskEngine = { tokenizer, mask, matcher: () => tokenMatcher(engine, createMatcher(grammar), 0, []) }
  return engine
}

/** The threads, and those with which the text may go on where the lexeme of one has just ended. */
function withFollowing(machine: Machine, threads: readonly Thread[]): readonly Thread[] {
  if (!threads.some(({ lexeme, state }) => lexeme.outcome(state) >= 0)) return threads
  const found = new Set(threads)
  // What is added on the way is visited too.
  for (const { lexeme, state, frame } of found) {
    const outcome = lexeme.outcome(state)
    if (outcome >= 0) for (const next of machine.afterLexeme(frame, outcome).threads) found.add(next)
  }
  return [...found]
}

function orInto(into: Uint32Array, other: Uint32Array): void {
  for (let word = 0; word < into.length; word++) into[word]! |= other[word]!
}

function applyChanges(mask: Uint32Array, changes: readonly number[], { twins }: Tokenizer): void {
  for (const change of changes)
    if (change >= 0) setToken(mask, change, twins)
    else unsetToken(mask, ~change, twins)
}

/** Sets what stays inside a lexeme. */
function addInside(mask: Uint32Array, { like, changes }: LexemeMask, tokenizer: Tokenizer): void {
  // What another lexeme has set stays, though it be none of this one's.
  const set = changes.flatMap((change) => (change < 0 && isAllowed(mask, ~change) ? [~change] : []))
  if (like !== undefined) orInto(mask, like)
  applyChanges(mask, changes, tokenizer)
  applyChanges(mask, set, tokenizer)
}

/** What masks are put together with. */
interface Parts {
  readonly machine: Machine
  readonly tokenizer: Tokenizer
  readonly beyond: Beyond
}

/** Sets what any of the threads allows. */
function addTogether(parts: Parts, threads: readonly Thread[], mask: Uint32Array): void {
  const { machine, tokenizer, beyond } = parts
  for (const { known, ends } of alike(tokenizer, threads)) {
    const after = new Map<number, State>()
    const afterEnd = (outcome: number): State => {
      let state = after.get(outcome)
      if (state === undefined)
        after.set(
          outcome,
          (state = machine.union(ends.map(({ frame, named }) => machine.afterLexeme(frame, named(outcome))))),
        )
      return state
    }
    addInside(mask, known, tokenizer)
    beyond.addMissing(known.exits, afterEnd, mask)
  }
}

/** From so many threads on, what they have in common is looked at once: a choice of hundreds shares its lexemes. */
const MANY_THREADS = 8

/** Threads whose lexemes behave alike. */
interface Alike {
  readonly known: LexemeMask
  /** What waits for each lexeme, and what it calls an outcome. */
  readonly ends: { readonly frame: Frame; readonly named: (outcome: number) => number }[]
}

function alike(tokenizer: Tokenizer, threads: readonly Thread[]): Iterable<Alike> {
  const groups = new Map<LexemeMask, Alike>()
  for (const { lexeme, state, frame } of threads) {
    refuseKeptText(lexeme)
    const { mask: known, outcome } = lexemeMask(tokenizer, lexeme, state)
    let group = groups.get(known)
    if (group === undefined) groups.set(known, (group = { known, ends: [] }))
    group.ends.push({ frame, named: outcome ?? ((same) => same) })
  }
  return groups.values()
}

function refuseKeptText({ keepsText }: Lexeme): void {
  if (!keepsText) return
  throw grammarError("Masks cannot compare the items of an array of endlessly many values.", {
    hint: 'Compile the schema with the option uniqueItems: "finite", and with relaxed where that refuses it.',
  })
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

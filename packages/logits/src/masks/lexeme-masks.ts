/**
 * What every token does to a lexeme, whatever surrounds it: the tokens that stay inside, and the places in the token
 * tree at
 * which the lexeme may end and something else has to go on. This is the part of a mask that depends on no schema, so it
 * is worked
 * out once per vocabulary for the lexemes that all schemas share: strings, numbers, white space.
 */
import { DEAD, type Lexeme } from "../lexeme/lexeme.ts"
import { freeString, stringLexeme } from "../lexeme/string-lexemes.ts"
import { dfaLanguage } from "../lexeme/text-language.ts"
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import type { TailTrie } from "./tail-trie.ts"
import type { Tokenizer } from "./tokenizer.ts"

export interface LexemeMask {
  /** Tokens after which the lexeme goes on or has just ended. */
  readonly inside: Uint32Array
  /** Nodes of the token tree with children, at which the lexeme may end… */
  readonly exits: readonly number[]
  /** …and its outcome there. */
  readonly outcomes: readonly number[]
  /** Of free text: nodes, in ascending order, whose tokens close the string and belong to the lexeme nevertheless. */
  readonly closers: readonly number[]
  /** How often it has been asked for. */
  uses: number
  /** The exits by outcome, what follows them put together; made when it pays. */
  tails: ReadonlyMap<number, TailTrie> | undefined
}

/**
 * The mask of a lexeme in a state; what its outcomes are called, where it is that of another lexeme that behaves alike.
 */
export function lexemeMask(
  tokenizer: Tokenizer,
  lexeme: Lexeme,
  state: number,
): { mask: LexemeMask; outcome: ((theirs: number) => number) | undefined } {
  const canonical = lexeme.canonical(state)
  if (canonical === undefined) return { mask: ownMask(tokenizer, lexeme, state), outcome: undefined }
  const deeper = lexemeMask(tokenizer, canonical.lexeme, canonical.state)
  const { outcome } = deeper
  return {
    mask: deeper.mask,
    outcome: outcome === undefined ? canonical.outcome : (theirs) => canonical.outcome(outcome(theirs)),
  }
}

function ownMask(tokenizer: Tokenizer, lexeme: Lexeme, state: number): LexemeMask {
  let byState = tokenizer.notes.get(lexeme) as (LexemeMask | undefined)[] | undefined
  if (byState === undefined) tokenizer.notes.set(lexeme, (byState = []))
  return (byState[state] ??= workOut(tokenizer, lexeme, state))
}

/** A mask while it is worked out. */
interface Unfinished {
  readonly tokenizer: Tokenizer
  readonly lexeme: Lexeme
  readonly inside: Uint32Array
  /** Where `inside` began with all that stays in free text: what does not is taken out of it. */
  readonly base: FreeText | undefined
  readonly exits: number[]
  readonly outcomes: number[]
  readonly closers: number[]
}

function workOut(tokenizer: Tokenizer, lexeme: Lexeme, state: number): LexemeMask {
  const freedom = lexeme.freedom(state)
  if (freedom !== undefined) {
    const { inside, upTo } = freeText(tokenizer, freedom.anyEscape)
    const mask = begin(tokenizer, lexeme, freedom.limit < upTo.length ? upTo[freedom.limit]! : inside)
    walkClosing(mask, state, 0, freedom.anyEscape)
    return finished(mask)
  }
  const { roots, skip } = tokenizer.trie
  const bytes = lexeme.bytes(state)
  const base = bytes === undefined ? mostlyFree(tokenizer, lexeme, state) : undefined
  const mask = begin(tokenizer, lexeme, base?.inside, base)
  const states = new Int32Array(MAX_DEPTH)
  states[0] = state
  if (bytes === undefined) walkLexeme(mask, states, 1, skip[0]!)
  else for (const byte of bytes) if (roots[byte]! >= 0) walkLexeme(mask, states, roots[byte]!, skip[roots[byte]!]!)
  return finished(mask)
}

function begin(tokenizer: Tokenizer, lexeme: Lexeme, inside?: Uint32Array, base?: FreeText): Unfinished {
  return {
    tokenizer,
    lexeme,
    inside: inside?.slice() ?? new Uint32Array(tokenizer.words),
    base,
    exits: [],
    outcomes: [],
    closers: [],
  }
}

const finished = ({ inside, exits, outcomes, closers }: Unfinished): LexemeMask => ({
  inside,
  exits,
  outcomes,
  closers,
  uses: 0,
  tails: undefined,
})

/** The free text that a state soon becomes by most of what can follow. */
function mostlyFree(tokenizer: Tokenizer, lexeme: Lexeme, state: number): FreeText | undefined {
  const { roots, skip } = tokenizer.trie
  let found: FreeText | undefined
  let free = 0
  for (let byte = 0; byte < roots.length; byte++) {
    const root = roots[byte]!
    const next = root < 0 ? DEAD : lexeme.next(state, byte)
    const text = next === DEAD ? undefined : freeFrom(tokenizer, lexeme, next, root)
    if (text === undefined) continue
    found = text
    free += text.keptBefore[skip[root]!]! - text.keptBefore[root]!
  }
  return found !== undefined && free * 2 > found.kept.length ? found : undefined
}

/** Tokens are no longer than this many bytes, less one. */
const MAX_DEPTH = 256

/** Below a node with fewer nodes than this, each is tried. */
const MANY_NODES = 32

/**
 * Tries the nodes from `from` up to `to` against a lexeme.
 *
 * @param states the lexeme's states along the way from the root, by depth; that above `from` is set
 */
function walkLexeme(mask: Unfinished, states: Int32Array, from: number, to: number): void {
  const { tokenizer, lexeme, inside } = mask
  const { byte, depth, skip, token } = tokenizer.trie
  for (let node = from; node < to;) {
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    const beyond = skip[node]!
    if (next === DEAD) {
      if (mask.base !== undefined) leaveOut(mask, mask.base, node, beyond)
      node = beyond
      continue
    }
    states[level] = next
    if (token[node]! >= 0) setToken(inside, token[node]!, tokenizer.twins)
    noteExit(mask, node, lexeme.outcome(next))
    node = beyond - node > MANY_NODES && takeFree(mask, next, node) ? beyond : node + 1
  }
}

/** A place at which the lexeme may end inside a token. */
function noteExit({ tokenizer, exits, outcomes }: Unfinished, node: number, outcome: number): void {
  if (outcome < 0 || tokenizer.trie.skip[node]! <= node + 1) return
  exits.push(node)
  outcomes.push(outcome)
}

function leaveOut({ tokenizer, inside }: Unfinished, { kept, keptBefore }: FreeText, from: number, to: number): void {
  for (let index = keptBefore[from]!; index < keptBefore[to]!; index++)
    for (let id = kept[index]!; id >= 0; id = tokenizer.twins?.[id] ?? -1) inside[id >>> 5]! &= ~(1 << (id & 31))
}

/** The free text that begins at a node, where the lexeme has come to a place in a string from which any may follow. */
function freeFrom(tokenizer: Tokenizer, lexeme: Lexeme, state: number, node: number): FreeText | undefined {
  const freedom = lexeme.freedom(state)
  if (freedom === undefined || freedom.limit !== Infinity) return undefined
  const text = freeText(tokenizer, freedom.anyEscape)
  return text.inText[node] === 1 ? text : undefined
}

/**
 * Takes what lies below a node as it is in free text: in names that are none of those known, in texts that begin as
 * they must.
 *
 * @returns whether it was so
 */
function takeFree(mask: Unfinished, state: number, node: number): boolean {
  const { tokenizer, lexeme, inside, base } = mask
  const text = freeFrom(tokenizer, lexeme, state, node)
  if (text === undefined) return false
  const beyond = tokenizer.trie.skip[node]!
  if (text !== base) {
    const last = text.keptBefore[beyond]!
    for (let index = text.keptBefore[node + 1]!; index < last; index++)
      setToken(inside, text.kept[index]!, tokenizer.twins)
  }
  if (!takeClosing(mask, state, node)) walkClosing(mask, state, node, lexeme.freedom(state)!.anyEscape)
  return true
}

/**
 * Takes what closes the string below a node from a lexeme that behaves alike, for which it is known for the whole tree.
 *
 * @returns whether there is one
 */
function takeClosing(into: Unfinished, state: number, above: number): boolean {
  const { tokenizer, inside, exits, outcomes, lexeme } = into
  if (lexeme.canonical(state) === undefined) return false
  const { mask, outcome } = lexemeMask(tokenizer, lexeme, state)
  const { token, skip } = tokenizer.trie
  const beyond = skip[above]!
  const { closers } = mask
  for (let index = firstBeyond(closers, above); index < closers.length && closers[index]! < beyond; index++)
    setToken(inside, token[closers[index]!]!, tokenizer.twins)
  for (let index = firstBeyond(mask.exits, above); index < mask.exits.length && mask.exits[index]! < beyond; index++) {
    exits.push(mask.exits[index]!)
    outcomes.push(outcome?.(mask.outcomes[index]!) ?? mask.outcomes[index]!)
  }
  return true
}

export function setToken(mask: Uint32Array, token: number, twins: Int32Array | undefined): void {
  for (let id = token; id >= 0; id = twins?.[id] ?? -1) mask[id >>> 5]! |= 1 << (id & 31)
}

/** What tokens do inside a string in which any text may stand. */
interface FreeText {
  /** Tokens that stay in the string. */
  readonly inside: Uint32Array
  /**
   * Those of them by how many characters they need, a begun one counting as one: index n has the tokens of at most n.
   */
  readonly upTo: readonly Uint32Array[]
  /** 1 for the nodes at which the text stands between two characters. */
  readonly inText: Uint8Array
  /** The tokens that stay in the string, in the order of the tree… */
  readonly kept: Int32Array
  /** …and how many of them stand before each node. */
  readonly keptBefore: Int32Array
  /** The nodes at which a string is closed, with every node on the way there, in ascending order. */
  readonly closing: Int32Array
  /** 1 for those at which it is closed. */
  readonly closes: Uint8Array
}

const FREE_ANY = {}
const FREE_NEEDED = {}

function freeText(tokenizer: Tokenizer, anyEscape: boolean): FreeText {
  const key = anyEscape ? FREE_ANY : FREE_NEEDED
  let known = tokenizer.notes.get(key) as FreeText | undefined
  if (known === undefined) tokenizer.notes.set(key, (known = workOutFreeText(tokenizer, anyEscape)))
  return known
}

function workOutFreeText(tokenizer: Tokenizer, anyEscape: boolean): FreeText {
  const { byte, depth, skip, token } = tokenizer.trie
  const lexeme = anyEscape ? stringLexeme({ kind: "json" }, dfaLanguage(ANY_TEXT)) : freeString()
  const body = lexeme.next(lexeme.start, 0x22)
  const closing: number[] = []
  const closes: number[] = []
  const inText = new Uint8Array(byte.length)
  const kept: number[] = []
  const keptBefore = new Int32Array(byte.length + 1)
  const counted: number[] = []
  const states = new Int32Array(MAX_DEPTH)
  const counts = new Int32Array(MAX_DEPTH)
  const nodes = new Int32Array(MAX_DEPTH)
  // Nodes on the way to a closing are listed once, before it.
  let listed = 0
  const leave = (from: number, to: number): number => {
    for (let node = from; node < to; node++) keptBefore[node + 1] = kept.length
    return to
  }
  states[0] = body
  for (let node = 1; node < skip[0]!;) {
    const level = depth[node]!
    const before = states[level - 1]!
    const next = lexeme.next(before, byte[node]!)
    nodes[level] = node
    if (next === DEAD || lexeme.outcome(next) >= 0) {
      if (next !== DEAD) listed = listClosing(nodes.subarray(1, level + 1), listed, closing, closes)
      node = leave(node, skip[node]!)
      continue
    }
    states[level] = next
    if (next === body) inText[node] = 1
    // A character is counted when it begins.
    counts[level] = counts[level - 1]! + (before === body ? 1 : 0)
    if (token[node]! >= 0) {
      kept.push(token[node]!)
      counted.push(counts[level]!)
    }
    node = leave(node, node + 1)
  }
  const upTo = tokensUpTo(tokenizer, kept, counted)
  return {
    inside: upTo.at(-1) ?? new Uint32Array(tokenizer.words),
    upTo,
    inText,
    kept: Int32Array.from(kept),
    keptBefore,
    closing: Int32Array.from(closing),
    closes: Uint8Array.from(closes),
  }
}

/**
 * Lists the nodes that lead to a closing, each once, and before it.
 *
 * @param listed the last node that is listed already
 * @returns the node of the closing
 */
function listClosing(way: Int32Array, listed: number, closing: number[], closes: number[]): number {
  way.forEach((node, index) => {
    if (node <= listed) return
    closing.push(node)
    closes.push(index === way.length - 1 ? 1 : 0)
  })
  return way.at(-1)!
}

/** Sets of tokens by how many characters they need at most. */
function tokensUpTo(tokenizer: Tokenizer, tokens: readonly number[], counts: readonly number[]): Uint32Array[] {
  const byCount: number[][] = []
  tokens.forEach((token, index) => (byCount[counts[index]!] ??= []).push(token))
  const upTo: Uint32Array[] = []
  for (let count = 0; count < byCount.length; count++) {
    const sum = upTo.at(-1)?.slice() ?? new Uint32Array(tokenizer.words)
    for (const id of byCount[count] ?? []) setToken(sum, id, tokenizer.twins)
    upTo.push(sum)
  }
  return upTo
}

/** Inside free text only the tokens that close the string need a look: those below a node, with the lexeme's state there. */
function walkClosing(mask: Unfinished, state: number, above: number, anyEscape: boolean): void {
  const { tokenizer, lexeme } = mask
  const { closing, closes } = freeText(tokenizer, anyEscape)
  const { byte, depth, skip } = tokenizer.trie
  const states = new Int32Array(MAX_DEPTH)
  states[depth[above]!] = state
  let dead = -1
  for (let index = firstBeyond(closing, above); index < closing.length; index++) {
    const node = closing[index]!
    if (node >= skip[above]!) return
    if (node < dead) continue
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      dead = skip[node]!
      continue
    }
    states[level] = next
    // A key is read with what comes after it, so the lexeme may go on beyond the quote.
    if (closes[index] !== 1) {
      if (skip[node]! - node > MANY_NODES && takeClosing(mask, next, node)) dead = skip[node]!
      continue
    }
    noteExit(mask, node, lexeme.outcome(next))
    dead = skip[node]!
    closeBelow(mask, states, node, dead)
  }
}

/** Tries a node at which the string is closed, whose state is known, and all below it. */
function closeBelow(mask: Unfinished, states: Int32Array, from: number, to: number): void {
  const { tokenizer, lexeme, inside, closers } = mask
  const { byte, depth, skip, token } = tokenizer.trie
  for (let node = from; node < to;) {
    const level = depth[node]!
    if (node > from) {
      const next = lexeme.next(states[level - 1]!, byte[node]!)
      if (next === DEAD) {
        node = skip[node]!
        continue
      }
      states[level] = next
      noteExit(mask, node, lexeme.outcome(next))
    }
    if (token[node]! >= 0) {
      setToken(inside, token[node]!, tokenizer.twins)
      closers.push(node)
    }
    node++
  }
}

/** The index of the first number that is greater, of numbers in ascending order. */
function firstBeyond(ascending: ArrayLike<number>, number: number): number {
  let low = 0
  let high = ascending.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ascending[middle]! > number) high = middle
    else low = middle + 1
  }
  return low
}

/** Works out beforehand what all schemas need. */
export function warmFreeText(tokenizer: Tokenizer): void {
  freeText(tokenizer, true)
  freeText(tokenizer, false)
}

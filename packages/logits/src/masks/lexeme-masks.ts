/**
 * What every token does to a lexeme, whatever surrounds it: the tokens that stay inside, and the places in the token
 * tree at
 * which the lexeme may end and something else has to go on. This is the part of a mask that depends on no schema, so it
 * is worked
 * out once per vocabulary for the lexemes that all schemas share: strings, numbers, white space.
 */
import { DEAD, type Freedom, type Lexeme } from "../lexeme/lexeme.ts"
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

function workOut(tokenizer: Tokenizer, lexeme: Lexeme, state: number): LexemeMask {
  const freedom = lexeme.freedom(state)
  return freedom === undefined ? walkAll(tokenizer, lexeme, state) : walkFree(tokenizer, lexeme, state, freedom)
}

function walkAll(tokenizer: Tokenizer, lexeme: Lexeme, state: number): LexemeMask {
  const inside = new Uint32Array(tokenizer.words)
  const exits: number[] = []
  const outcomes: number[] = []
  const { roots, skip } = tokenizer.trie
  const bytes = lexeme.bytes(state)
  const walk = (from: number, to: number): void =>
    walkLexeme(tokenizer, lexeme, state, from, to, inside, exits, outcomes)
  if (bytes === undefined) walk(1, skip[0]!)
  else for (const byte of bytes) if (roots[byte]! >= 0) walk(roots[byte]!, skip[roots[byte]!]!)
  return { inside, exits, outcomes, uses: 0, tails: undefined }
}

/**
 * The lexeme's states along the way from the root. Walks run one at a time, and one inside another walks below a node.
 */
const path = new Int32Array(256)
const pathBelow = new Int32Array(256)

/** Tries the nodes from `from` up to `to`, whose parents are the root, against a lexeme. */
function walkLexeme(
  { trie, twins }: Tokenizer,
  lexeme: Lexeme,
  start: number,
  from: number,
  to: number,
  inside: Uint32Array,
  exits: number[],
  outcomes: number[],
): void {
  const { byte, depth, skip, token } = trie
  const states = path
  states[0] = start
  for (let node = from; node < to;) {
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      node = skip[node]!
      continue
    }
    states[level] = next
    if (token[node]! >= 0) setToken(inside, token[node]!, twins)
    const outcome = lexeme.outcome(next)
    if (outcome >= 0 && skip[node]! > node + 1) {
      exits.push(node)
      outcomes.push(outcome)
    }
    node++
  }
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
  const inside = new Uint32Array(tokenizer.words)
  const byCount: number[][] = []
  const closing = new Set<number>()
  const ends = new Set<number>()
  const states = new Int32Array(256)
  const counts = new Int32Array(256)
  const nodes = new Int32Array(256)
  states[0] = body
  for (let node = 1; node < skip[0]!;) {
    const level = depth[node]!
    const before = states[level - 1]!
    const next = lexeme.next(before, byte[node]!)
    if (next === DEAD) {
      node = skip[node]!
      continue
    }
    nodes[level] = node
    if (lexeme.outcome(next) >= 0) {
      for (let at = 1; at <= level; at++) closing.add(nodes[at]!)
      ends.add(node)
      node = skip[node]!
      continue
    }
    states[level] = next
    // A character is counted when it begins.
    counts[level] = counts[level - 1]! + (before === body ? 1 : 0)
    if (token[node]! >= 0) {
      setToken(inside, token[node]!, tokenizer.twins)
      ;(byCount[counts[level]!] ??= []).push(token[node]!)
    }
    node++
  }
  const upTo: Uint32Array[] = []
  let sum = new Uint32Array(tokenizer.words)
  for (let count = 0; count < byCount.length; count++) {
    sum = sum.slice()
    for (const id of byCount[count] ?? []) setToken(sum, id, tokenizer.twins)
    upTo.push(sum)
  }
  const ordered = Int32Array.from(closing).toSorted()
  return { inside, upTo, closing: ordered, closes: Uint8Array.from(ordered, (node) => (ends.has(node) ? 1 : 0)) }
}

/** Inside free text only the tokens that close the string need a look. */
function walkFree(tokenizer: Tokenizer, lexeme: Lexeme, state: number, { limit, anyEscape }: Freedom): LexemeMask {
  const { inside: all, upTo, closing, closes } = freeText(tokenizer, anyEscape)
  const { byte, depth, skip, token } = tokenizer.trie
  const inside = (limit < upTo.length ? upTo[limit]! : all).slice()
  const exits: number[] = []
  const outcomes: number[] = []
  const states = path
  states[0] = state
  let dead = -1
  for (let index = 0; index < closing.length; index++) {
    const node = closing[index]!
    if (node < dead) continue
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      dead = skip[node]!
      continue
    }
    states[level] = next
    const outcome = lexeme.outcome(next)
    // A key is read with what comes after it, so the lexeme may go on beyond the quote.
    if (closes[index] === 1) {
      if (token[node]! >= 0) setToken(inside, token[node]!, tokenizer.twins)
      if (outcome >= 0 && skip[node]! > node + 1) {
        exits.push(node)
        outcomes.push(outcome)
      }
      if (skip[node]! > node + 1) walkBelow(tokenizer, lexeme, next, node, inside, exits, outcomes)
      dead = skip[node]!
    }
  }
  return { inside, exits, outcomes, uses: 0, tails: undefined }
}

/** The children of a node, with the lexeme in a state at that node. */
function walkBelow(
  { trie, twins }: Tokenizer,
  lexeme: Lexeme,
  start: number,
  above: number,
  inside: Uint32Array,
  exits: number[],
  outcomes: number[],
): void {
  const { byte, depth, skip, token } = trie
  const base = depth[above]!
  const states = pathBelow
  states[base] = start
  for (let node = above + 1; node < skip[above]!;) {
    const level = depth[node]!
    const next = lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      node = skip[node]!
      continue
    }
    states[level] = next
    if (token[node]! >= 0) setToken(inside, token[node]!, twins)
    const outcome = lexeme.outcome(next)
    if (outcome >= 0 && skip[node]! > node + 1) {
      exits.push(node)
      outcomes.push(outcome)
    }
    node++
  }
}

/** Works out beforehand what all schemas need. */
export function warmFreeText(tokenizer: Tokenizer): void {
  freeText(tokenizer, true)
  freeText(tokenizer, false)
}

/** What tokens do inside strings in which any text may stand, which most strings are. */
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { DEAD } from "../lexeme/lexeme.ts"
import { freeString, stringLexeme } from "../lexeme/string-lexemes.ts"
import { dfaLanguage } from "../lexeme/text-language.ts"
import { setToken } from "./set-token.ts"
import { MAX_DEPTH, type Tokenizer } from "./tokenizer.ts"

/** What tokens do inside a string in which any text may stand. */
export interface FreeText {
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

export function freeText(tokenizer: Tokenizer, anyEscape: boolean): FreeText {
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

/** Works out beforehand what all schemas need. */
export function warmFreeText(tokenizer: Tokenizer): void {
  freeText(tokenizer, true)
  freeText(tokenizer, false)
}

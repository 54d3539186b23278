import type { Tokenizer } from "../masks/tokenizer.ts"
import { followBytes, followToken, startPosition, type Position } from "./follow.ts"
import type { GbnfGrammar } from "./model.ts"
import { parseGbnf } from "./parse.ts"
import { compileGbnf, type GbnfMatcherOptions, type Program } from "./program.ts"

/** Reads tokens under a user-written grammar; the same shape as the matcher of a mask engine. */
export interface GbnfTokenMatcher {
  /** @returns whether the token was allowed; after an end token nothing more is */
  accept(token: number): boolean
  /**
   * Bit `id & 31` of word `id >> 5` is set where the token may come next; end tokens are set where the text is whole.
   */
  mask(): Uint32Array
  isComplete(): boolean
  /** Whether an end token has been read. */
  isEnded(): boolean
  clone(): GbnfTokenMatcher
}

/** Masks over a vocabulary for a user-written grammar. */
export interface GbnfMaskEngine {
  readonly tokenizer: Tokenizer
  matcher(): GbnfTokenMatcher
}

/**
 * Masks for GBNF text that someone wrote, token terminals included. The vocabulary is walked anew at each place:
 * milliseconds on large vocabularies where the grammar is loose. Grammars of schemas are better served by
 * `createMaskEngine`, which remembers.
 *
 * @throws ToolwrightError as `createGbnfMatcher`
 */
export function createGbnfMaskEngine(
  grammar: string | GbnfGrammar,
  tokenizer: Tokenizer,
  options: GbnfMatcherOptions = {},
): GbnfMaskEngine {
  const program = compileGbnf(typeof grammar === "string" ? parseGbnf(grammar) : grammar, options)
  return { tokenizer, matcher: () => matcherAt(program, tokenizer, startPosition(program), false) }
}

function matcherAt(program: Program, tokenizer: Tokenizer, start: Position, hasEnded: boolean): GbnfTokenMatcher {
  let position = start
  let ended = hasEnded
  let mask: Uint32Array | undefined
  const ends = new Set(tokenizer.eos)
  return {
    accept(token) {
      if (ended) return false
      if (ends.has(token)) return (ended = position.done)
      const next = followToken(program, position, token, tokenizer.bytesOf(token) ?? undefined)
      if (next === undefined) return false
      position = next
      mask = undefined
      return true
    },
    mask: () => (ended ? new Uint32Array(tokenizer.words) : (mask ??= maskAt(program, tokenizer, position))),
    isComplete: () => position.done,
    isEnded: () => ended,
    clone: () => matcherAt(program, tokenizer, position, ended),
  }
}

function maskAt(program: Program, tokenizer: Tokenizer, start: Position): Uint32Array {
  const mask = new Uint32Array(tokenizer.words)
  const set = (token: number) => {
    mask[token >> 5]! |= 1 << (token & 31)
  }
  const { byte, depth, skip, token } = tokenizer.trie
  const positions: Position[] = [start]
  const one = new Uint8Array(1)
  for (let node = 1; node < byte.length;) {
    one[0] = byte[node]!
    const level = depth[node]!
    const next = followBytes(program, positions[level - 1]!, one)
    if (next === undefined) {
      node = skip[node]!
      continue
    }
    positions[level] = next
    for (let id = token[node]!; id >= 0; id = tokenizer.twins?.[id] ?? -1) set(id)
    node++
  }
  if (program.hasTokens) addTokenTerminals(program, tokenizer, start, set)
  if (start.done) for (const id of tokenizer.eos) set(id)
  return mask
}

/** Tokens that the grammar names; a negated one stands for every other token that does not end the reply. */
function addTokenTerminals(
  program: Program,
  tokenizer: Tokenizer,
  { states, partial }: Position,
  set: (token: number) => void,
): void {
  if (partial !== undefined) return
  const ends = new Set(tokenizer.eos)
  for (const { step } of states) {
    const at = program.steps[step]!
    if (at.op !== "token") continue
    if (!at.negated) set(at.id)
    else for (let id = 0; id < tokenizer.size; id++) if (id !== at.id && !ends.has(id)) set(id)
  }
}

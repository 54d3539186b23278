/**
 * Which tokens lie in a slice, for each of them: what is allowed at once where a language takes any text of the slice.
 */
import { beginCharacter, continueCharacter, type PartialCharacter, rangeOf } from "../automaton/code-points.ts"
import { inSlice, MOST_CHARACTERS, SLICES } from "../lexeme/slices.ts"
import { setToken } from "./set-token.ts"
import { MAX_DEPTH, type Tokenizer } from "./tokenizer.ts"

export interface SliceTokens {
  /** The tokens that lie in the slice. */
  readonly inside: Uint32Array
  /** Bit n of a node: its token and all below it lie in slice n. */
  readonly whole: Uint8Array
  readonly bit: number
}

const SLICED = {}

/** By the number of the slice. */
export function sliceTokens(tokenizer: Tokenizer): readonly SliceTokens[] {
  let known = tokenizer.notes.get(SLICED) as readonly SliceTokens[] | undefined
  if (known === undefined) tokenizer.notes.set(SLICED, (known = workOut(tokenizer)))
  return known
}

function workOut(tokenizer: Tokenizer): SliceTokens[] {
  const { trie, words, twins } = tokenizer
  const { token, skip } = trie
  const lies = slicesOfNodes(tokenizer)
  const inside = SLICES.map(() => new Uint32Array(words))
  const whole = new Uint8Array(token.length)
  for (let node = token.length - 1; node > 0; node--) {
    const own = token[node]! < 0 ? ALL_BITS : lies[node]!
    if (token[node]! >= 0)
      for (let slice = 0; slice < SLICES.length; slice++)
        if ((own >> slice) & 1) setToken(inside[slice]!, token[node]!, twins)
    let below = own
    for (let child = node + 1; child < skip[node]! && below !== 0; child = skip[child]!) below &= whole[child]!
    whole[node] = below
  }
  return inside.map((tokens, slice) => ({ inside: tokens, whole, bit: 1 << slice }))
}

const ALL_BITS = 2 ** SLICES.length - 1

const bitsOf = (code: number): number =>
  SLICES.reduce((bits, _, slice) => bits | (inSlice(slice, code) ? 1 << slice : 0), 0)

/** Bit n of a node: the text that leads to it is characters of slice n, whole ones and not too many. */
function slicesOfNodes({ trie: { byte, depth } }: Tokenizer): Uint8Array {
  const lies = new Uint8Array(byte.length)
  const ascii = Uint8Array.from({ length: 0x80 }, (_, code) => bitsOf(code))
  // By depth: the slices of the characters so far, how many they are, and the one that has begun.
  const bits = new Uint8Array(MAX_DEPTH).fill(ALL_BITS, 0, 1)
  const counts = new Uint16Array(MAX_DEPTH)
  const begun: (PartialCharacter | undefined)[] = []
  const wide = new Map<number, number>()
  const bitsOfWide = (code: number): number => {
    let known = wide.get(code)
    if (known === undefined) wide.set(code, (known = bitsOf(code)))
    return known
  }
  for (let node = 1; node < byte.length; node++) {
    const level = depth[node]!
    const value = byte[node]!
    const before = begun[level - 1]
    const partial = before === undefined ? beginCharacter(value) : continueCharacter(before, value)
    let slices = bits[level - 1]!
    if (partial === undefined) slices &= before === undefined && value < 0x80 ? ascii[value]! : 0
    else if (partial.left === 0) slices &= partial.bits >= rangeOf(partial).first ? bitsOfWide(partial.bits) : 0
    const isWhole = partial === undefined || partial.left === 0
    bits[level] = slices
    counts[level] = counts[level - 1]! + (before === undefined ? 1 : 0)
    begun[level] = isWhole ? undefined : partial
    lies[node] = isWhole && counts[level]! <= MOST_CHARACTERS ? slices : 0
  }
  return lies
}

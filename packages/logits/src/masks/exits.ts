/** The places in the token tree at which a lexeme may end. Many states of many lexemes have the same. */
import { Latest } from "@toolwright/toolbox"
import type { TailTrie } from "./tail-trie.ts"
import type { Tokenizer } from "./tokenizer.ts"

export interface Exits {
  /** Nodes of the token tree with children, in ascending order, at which the lexeme may end… */
  readonly nodes: readonly number[]
  /** …and its outcome there. */
  readonly outcomes: readonly number[]
  /** How often it has been asked what follows them. */
  uses: number
  /** The exits by outcome, what follows them put together; made when it pays. */
  tails: ReadonlyMap<number, TailTrie> | undefined
}

const KNOWN = {}
const MOST_KNOWN = 500
const NONE: Exits = { nodes: [], outcomes: [], uses: 0, tails: undefined }

/** These exits: the same object for equal ones, so that what follows them is put together once. */
export function sharedExits({ notes }: Tokenizer, nodes: readonly number[], outcomes: readonly number[]): Exits {
  if (nodes.length === 0) return NONE
  let known = notes.get(KNOWN) as Latest<Exits, number> | undefined
  if (known === undefined) notes.set(KNOWN, (known = new Latest(MOST_KNOWN)))
  const own = (): Exits => ({ nodes, outcomes, uses: 0, tails: undefined })
  const found = known.get(digestOf(nodes, outcomes), own)
  // Two that only have their digest in common are not mixed up.
  return equal(found.nodes, nodes) && equal(found.outcomes, outcomes) ? found : own()
}

function digestOf(nodes: readonly number[], outcomes: readonly number[]): number {
  let digest = nodes.length
  for (let index = 0; index < nodes.length; index++)
    digest = (Math.imul(digest, 31) + Math.imul(nodes[index]!, 0x9e3779b1) + outcomes[index]!) | 0
  return digest
}

function equal(one: readonly number[], other: readonly number[]): boolean {
  return one === other || (one.length === other.length && one.every((value, index) => value === other[index]))
}

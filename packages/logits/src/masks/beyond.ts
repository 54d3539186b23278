/** The tokens that go on beyond the end of a lexeme, into what its stack allows there. */
import { DEAD } from "../lexeme/lexeme.ts"
import type { Machine, State, Thread } from "../matcher/machine.ts"
import { isAllowed } from "./apply.ts"
import type { Exits } from "./exits.ts"
import { setToken } from "./set-token.ts"
import { type TailTrie, tailTries } from "./tail-trie.ts"
import type { Tokenizer } from "./tokenizer.ts"

export interface Beyond {
  /**
   * Sets the tokens that leave a lexeme by its exits.
   *
   * @param after what follows the lexeme, by its outcome
   */
  add(exits: Exits, after: (outcome: number) => State, mask: Uint32Array): void
  /**
   * The same for one of many lexemes that share a mask: what another has set is not looked at again, and where that is
   * all, nobody asks what follows.
   */
  addMissing(exits: Exits, after: (outcome: number) => State, mask: Uint32Array): void
  /** Lets go of what is remembered. */
  forget(): void
}

/** From the second use on, what follows a lexeme is put together. */
const WORTHWHILE = 2

export function createBeyond(machine: Machine, tokenizer: Tokenizer): Beyond {
  const { twins } = tokenizer
  // In a string every mask goes on with the same few tokens: which ones follows from the endings and what comes after.
  let known = new Map<State, Map<TailTrie, readonly number[]>>()

  function tokensAfter(state: State, tail: TailTrie): readonly number[] {
    let ofState = known.get(state)
    if (ofState === undefined) known.set(state, (ofState = new Map()))
    let tokens = ofState.get(tail)
    if (tokens === undefined) ofState.set(tail, (tokens = walkTail(machine, state, tail)))
    return tokens
  }

  function tailsOf(exits: Exits): Exits["tails"] {
    const { nodes, outcomes } = exits
    if (++exits.uses >= WORTHWHILE && nodes.length > 4) exits.tails ??= tailTries(tokenizer, nodes, outcomes)
    return exits.tails
  }

  return {
    add(exits, after, mask) {
      const { nodes, outcomes } = exits
      const tails = tailsOf(exits)
      if (tails === undefined) {
        for (let index = 0; index < nodes.length; index++)
          walkState(machine, tokenizer, after(outcomes[index]!), nodes[index]!, mask)
        return
      }
      for (const [outcome, tail] of tails)
        for (const token of tokensAfter(after(outcome), tail)) setToken(mask, token, twins)
    },
    addMissing(exits, after, mask) {
      const { nodes, outcomes } = exits
      const tails = tailsOf(exits)
      if (tails === undefined) {
        for (let index = 0; index < nodes.length; index++)
          if (!isSetBelow(tokenizer, nodes[index]!, mask))
            walkState(machine, tokenizer, after(outcomes[index]!), nodes[index]!, mask)
        return
      }
      for (const [outcome, tail] of tails)
        if (!isSet(tail, 0, mask))
          for (const token of walkTail(machine, after(outcome), tail, mask)) setToken(mask, token, twins)
    },
    forget: () => (known = new Map()),
  }
}

/** Whether all tokens at a node and below are set. */
function isSet({ first, skip, tokens }: TailTrie, node: number, mask: Uint32Array): boolean {
  for (let index = first[node]!, to = first[skip[node]!]!; index < to; index++)
    if (!isAllowed(mask, tokens[index]!)) return false
  return true
}

/** Whether all tokens below a node of the token tree are set. */
function isSetBelow({ trie: { token, skip } }: Tokenizer, above: number, mask: Uint32Array): boolean {
  for (let node = above + 1, to = skip[above]!; node < to; node++)
    if (token[node]! >= 0 && !isAllowed(mask, token[node]!)) return false
  return true
}

/**
 * The tokens whose endings a state allows.
 *
 * @param set where only those are asked for that a mask has not
 */
function walkTail(machine: Machine, start: State, tail: TailTrie, set?: Uint32Array): number[] {
  const { first, tokens } = tail
  const found: number[] = []
  walkThreads(start.threads, 0, {
    machine,
    tree: tail,
    visited: new Set(),
    isKnown: set === undefined ? undefined : (node) => isSet(tail, node, set),
    reach(node) {
      for (let index = first[node]!; index < first[node + 1]!; index++) found.push(tokens[index]!)
    },
  })
  return found
}

/** Tries the tokens below a node of the tree from a state. */
function walkState(machine: Machine, { trie, twins }: Tokenizer, start: State, above: number, mask: Uint32Array): void {
  const { token } = trie
  walkThreads(start.threads, above, {
    machine,
    tree: trie,
    visited: new Set(),
    isKnown: undefined,
    reach(node) {
      if (token[node]! >= 0) setToken(mask, token[node]!, twins)
    },
  })
}

/** A walk over a tree of tokens or of endings. */
interface Walk {
  readonly machine: Machine
  readonly tree: { readonly byte: Uint8Array; readonly depth: Uint8Array; readonly skip: Int32Array }
  /** The threads that have been followed, with the nodes below which they were. */
  readonly visited: Set<number>
  /** Whether nothing below a node needs a look, the node included. */
  readonly isKnown: ((node: number) => boolean) | undefined
  /** Called for each node to which a thread leads, more than once where several do. */
  reach(node: number): void
}

/** Each thread goes its own way: the states that they would be together need not be made for a look. */
function walkThreads(threads: readonly Thread[], above: number, walk: Walk): void {
  const { visited, tree } = walk
  for (const thread of threads) {
    const key = thread.number * tree.byte.length + above
    if (visited.has(key)) continue
    visited.add(key)
    walkThread(thread, above, walk)
  }
}

function walkThread({ lexeme, state, frame }: Thread, above: number, walk: Walk): void {
  const { machine, isKnown } = walk
  const { byte, depth, skip } = walk.tree
  const follow = (outcome: number, node: number): void => {
    if (outcome >= 0) walkThreads(machine.following(frame, outcome), node, walk)
  }
  follow(lexeme.outcome(state), above)
  const base = depth[above]!
  const states = [state]
  for (let node = above + 1, to = skip[above]!; node < to;) {
    const level = depth[node]! - base
    const next = isKnown?.(node) === true ? DEAD : lexeme.next(states[level - 1]!, byte[node]!)
    if (next === DEAD) {
      node = skip[node]!
      continue
    }
    states[level] = next
    walk.reach(node)
    if (skip[node]! > node + 1) follow(lexeme.outcome(next), node)
    node++
  }
}

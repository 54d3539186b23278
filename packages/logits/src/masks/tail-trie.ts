/**
 * What comes after a lexeme in the tokens that go beyond it: the same few endings stand in many tokens, so they are put
 * together.
 */
import type { Tokenizer } from "./tokenizer.ts"

/** A tree in preorder, as the token tree; node 0 is the root. */
export interface TailTrie {
  readonly byte: Uint8Array
  readonly depth: Uint8Array
  readonly skip: Int32Array
  /** The tokens that end at node n are `tokens[first[n]]` up to `tokens[first[n + 1]]`. */
  readonly first: Int32Array
  readonly tokens: Int32Array
}

interface Node {
  readonly children: Map<number, Node>
  readonly tokens: number[]
}

/** The endings below the exits, by outcome. */
export function tailTries(
  { trie }: Tokenizer,
  exits: readonly number[],
  outcomes: readonly number[],
): Map<number, TailTrie> {
  const roots = new Map<number, Node>()
  const path: Node[] = []
  for (let index = 0; index < exits.length; index++) {
    const above = exits[index]!
    let root = roots.get(outcomes[index]!)
    if (root === undefined) roots.set(outcomes[index]!, (root = { children: new Map(), tokens: [] }))
    const base = trie.depth[above]!
    path[base] = root
    for (let node = above + 1; node < trie.skip[above]!; node++) {
      const level = trie.depth[node]!
      const { children } = path[level - 1]!
      let child = children.get(trie.byte[node]!)
      if (child === undefined) children.set(trie.byte[node]!, (child = { children: new Map(), tokens: [] }))
      path[level] = child
      if (trie.token[node]! >= 0) child.tokens.push(trie.token[node]!)
    }
  }
  return new Map([...roots].map(([outcome, root]) => [outcome, flatten(root)]))
}

function flatten(root: Node): TailTrie {
  const byte: number[] = []
  const depth: number[] = []
  const skip: number[] = []
  const first: number[] = []
  const tokens: number[] = []
  const add = (node: Node, value: number, level: number): void => {
    const index = byte.push(value) - 1
    depth.push(level)
    skip.push(0)
    first.push(tokens.length)
    tokens.push(...node.tokens)
    for (const [next, child] of node.children) add(child, next, level + 1)
    skip[index] = byte.length
  }
  add(root, 0, 0)
  first.push(tokens.length)
  return {
    byte: Uint8Array.from(byte),
    depth: Uint8Array.from(depth),
    skip: Int32Array.from(skip),
    first: Int32Array.from(first),
    tokens: Int32Array.from(tokens),
  }
}

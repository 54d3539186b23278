import type { Tokenizer } from "@toolwright/logits"

/** Cuts bytes into tokens, the longest first: not what a model's own merges would do, but tokens all the same. */
export function longestMatch({ trie }: Tokenizer, bytes: Uint8Array): number[] {
  const { byte, skip, token, roots } = trie
  const result: number[] = []
  for (let at = 0; at < bytes.length;) {
    let node = roots[bytes[at]!]!
    let best = -1
    let length = 0
    for (let read = 1; node >= 0; read++) {
      if (token[node]! >= 0) [best, length] = [token[node]!, read]
      let child = node + 1
      while (child < skip[node]! && byte[child] !== bytes[at + read]) child = skip[child]!
      node = child < skip[node]! ? child : -1
    }
    if (best < 0) throw new Error(`The vocabulary has no token for byte ${bytes[at]}.`)
    result.push(best)
    at += length
  }
  return result
}

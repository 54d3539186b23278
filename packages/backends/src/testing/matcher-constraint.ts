import { createMatcher, type Grammar } from "@toolwright/logits"
import type { LlamaVocabulary } from "../llama/vocabulary.ts"
import type { TokenConstraint } from "../llama/masked.ts"

/** A constraint that asks the matcher about every token: slow, and right by definition. */
export function matcherConstraint(grammar: Grammar, { bytes, endTokens }: LlamaVocabulary): TokenConstraint {
  const matcher = createMatcher(grammar)
  return {
    mask() {
      const mask = new Uint32Array(Math.ceil(bytes.length / 32))
      const set = (token: number) => (mask[token >> 5] = mask[token >> 5]! | (1 << (token & 31)))
      for (const [token, own] of bytes.entries()) if (own !== undefined && own.length > 0 && matcher.accepts(own)) set(token)
      if (matcher.isComplete()) for (const token of endTokens) set(token)
      return mask
    },
    accept(token) {
      matcher.accept(bytes[token] ?? new Uint8Array())
    },
  }
}

/** Room for masks. */
import type { Tokenizer } from "./tokenizer.ts"

/** Masks are cut out of larger pieces: a buffer for each would cost more than what is written into it. */
export function maskAllocator(words: number): () => Uint32Array {
  let piece = new Uint32Array(0)
  let next = 0
  let size = 4
  return () => {
    if (next + words > piece.length) {
      size = Math.min(64, size * 2)
      piece = new Uint32Array(words * size)
      next = 0
    }
    next += words
    return piece.subarray(next - words, next)
  }
}

const OF_LEXEMES = {}

/** A mask of a lexeme, which is kept with the vocabulary. */
export function lexemeRoom({ notes, words }: Tokenizer): Uint32Array {
  let allocate = notes.get(OF_LEXEMES) as (() => Uint32Array) | undefined
  if (allocate === undefined) notes.set(OF_LEXEMES, (allocate = maskAllocator(words)))
  return allocate()
}

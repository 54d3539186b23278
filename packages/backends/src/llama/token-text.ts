import type { LlamaVocabulary } from "./vocabulary.ts"

/** Turns tokens into text as they come; a character whose bytes come in several tokens leaves when it is whole. */
export interface TokenText {
  push(token: number): string
  end(): string
}

/** Control tokens appear as their own text, since call markers are among them. */
export function createTokenText({ bytes, texts }: LlamaVocabulary): TokenText {
  const decoder = new TextDecoder()
  return {
    push(token) {
      const own = bytes[token]
      return own === undefined ? decoder.decode() + (texts[token] ?? "") : decoder.decode(own, { stream: true })
    },
    end: () => decoder.decode(),
  }
}

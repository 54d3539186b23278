import { byteLevelAlphabet, byteLevelBytes } from "@toolwright/logits"
import type { LlamaModel } from "./module.ts"

/**
 * A model's vocabulary as bytes: what each token writes. Control tokens (`<|im_end|>`, `</s>`) write nothing and have
 * no bytes.
 */
export interface LlamaVocabulary {
  readonly bytes: readonly (Uint8Array | undefined)[]
  readonly texts: readonly string[]
  /** Tokens that end a generation. */
  readonly endTokens: readonly number[]
}

const CONTROL = 3
const USER_DEFINED = 4
const BYTE = 6

/**
 * Reads the vocabulary from the model file's own metadata: SentencePiece writes a space as `▁` and single bytes as
 * `<0x0A>`, byte-level BPE writes every byte as a printable character.
 */
export function vocabularyOf(model: LlamaModel): LlamaVocabulary {
  const { ggml } = model.fileInfo.metadata.tokenizer ?? { ggml: { model: "", tokens: [] } }
  const encoder = new TextEncoder()
  const byteLevel = ggml.model === "gpt2" ? byteLevelAlphabet() : undefined
  const bytesOf = (text: string, token: number): Uint8Array | undefined => {
    const type = ggml.token_type?.[token]
    if (type === CONTROL) return undefined
    if (type === BYTE) return Uint8Array.of(Number.parseInt(text.slice(3, -1), 16))
    if (byteLevel !== undefined && type !== USER_DEFINED) return byteLevelBytes(text, byteLevel)
    return encoder.encode(byteLevel === undefined ? text.replaceAll("▁", " ") : text)
  }
  return {
    texts: ggml.tokens,
    bytes: ggml.tokens.map(bytesOf),
    endTokens: ggml.tokens.flatMap((_, token) => (model.isEogToken(token) ? [token] : [])),
  }
}

import { createTokenizer, type Tokenizer } from "@toolwright/logits"
import type { LlamaContext, LlamaModel } from "../llama/module.ts"
import { vocabularyOf } from "../llama/vocabulary.ts"
import type { GgufFile } from "./gguf-file.ts"
import { networkOf, type Network } from "./network.ts"
import { piecesOf, type Pieces } from "./pieces.ts"
import { SmallSequence } from "./small-sequence.ts"

/** A model whose weights are in this process's memory. */
export class SmallModel implements LlamaModel {
  readonly size: number
  readonly filename: string
  readonly fileInfo: LlamaModel["fileInfo"]
  readonly network: Network
  readonly #pieces: Pieces
  #grammarTokenizer: Tokenizer | undefined

  constructor(file: GgufFile, filename: string, size: number) {
    this.filename = filename
    this.size = size
    this.network = networkOf(file)
    this.#pieces = piecesOf(file)
    const text = (key: string): string | undefined => {
      const value = file.metadata.get(key)
      return typeof value === "string" ? value : undefined
    }
    const [name, template] = [text("general.name"), text("tokenizer.chat_template")]
    this.fileInfo = {
      metadata: {
        ...(name !== undefined && { general: { name } }),
        tokenizer: {
          ...(template !== undefined && { chat_template: template }),
          ggml: { model: "llama", tokens: this.#pieces.texts, token_type: this.#pieces.kinds },
        },
      },
    }
  }

  get trainContextSize(): number {
    return this.network.shape.window
  }

  get tokens(): LlamaModel["tokens"] {
    return { bosString: this.#pieces.bosText, eosString: this.#pieces.eosText }
  }

  get endTokens(): ReadonlySet<number> {
    return this.#pieces.endTokens
  }

  /** The vocabulary as grammars see it: marks count by their text. */
  get grammarTokenizer(): Tokenizer {
    if (this.#grammarTokenizer === undefined) {
      const { bytes, texts, endTokens } = vocabularyOf(this)
      const encoder = new TextEncoder()
      const tokens = bytes.map((own, token) => own ?? encoder.encode(texts[token]))
      this.#grammarTokenizer = createTokenizer({ tokens, eos: endTokens })
    }
    return this.#grammarTokenizer
  }

  tokenize(text: string): number[] {
    return this.#pieces.tokenize(text)
  }

  isEogToken(token: number): boolean {
    return this.endTokens.has(token)
  }

  createContext({ contextSize = this.trainContextSize }: { contextSize?: number }): Promise<LlamaContext> {
    const sequence = new SmallSequence(this, contextSize)
    return Promise.resolve({ contextSize, getSequence: () => sequence, dispose: () => Promise.resolve() })
  }

  dispose(): Promise<void> {
    return Promise.resolve()
  }
}

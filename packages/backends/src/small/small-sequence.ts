import { setImmediate } from "node:timers/promises"
import { createGbnfMaskEngine, createSampler, type SamplerConfig, type Tokenizer } from "@toolwright/logits"
import type { EvaluateOptions, LlamaSequence } from "../llama/module.ts"
import type { Memory, Network } from "./network.ts"
import { Biases, GrammarState } from "./choices.ts"

/** Tokens that are read without letting others have their turn: some ten milliseconds. */
const AT_ONCE = 8

/** What a sequence needs of its model. */
interface Evaluated {
  readonly network: Network
  readonly grammarTokenizer: Tokenizer
  isEogToken(token: number): boolean
}

/** A text that a model has read, and goes on with. */
export class SmallSequence implements LlamaSequence {
  readonly #model: Evaluated
  readonly #memory: Memory
  readonly #size: number
  #tokens: number[] = []

  constructor(model: Evaluated, size: number) {
    this.#model = model
    this.#size = size
    this.#memory = model.network.memory(size)
  }

  get nextTokenIndex(): number {
    return this.#tokens.length
  }

  adaptStateToTokens(tokens: readonly number[]): Promise<void> {
    let same = 0
    while (same < tokens.length && tokens[same] === this.#tokens[same]) same++
    this.#tokens.length = Math.min(same, this.#tokens.length)
    return Promise.resolve()
  }

  async *evaluate(tokens: readonly number[], options: EvaluateOptions): AsyncGenerator<number, void, undefined> {
    const choose = this.#chooser(options)
    let rest = tokens
    for (;;) {
      const wanted = rest.length - 1
      const logits = await this.#read(rest, (index) => index === wanted)
      const token = choose(logits[wanted]!)
      if (this.#model.isEogToken(token)) return
      yield token
      rest = [token]
    }
  }

  async evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void> {
    await this.#read(tokens, () => false)
  }

  async controlledEvaluate(
    input: Parameters<LlamaSequence["controlledEvaluate"]>[0],
  ): ReturnType<LlamaSequence["controlledEvaluate"]> {
    const tokens = input.map((one) => (typeof one === "number" ? one : one[0]))
    const all = await this.#read(tokens, (index) => typeof input[index] !== "number")
    return input.map((one, index) => {
      const logits = all[index]
      if (typeof one === "number" || logits === undefined) return undefined
      const wanted = one[1].generateNext.logits
      const kept = wanted === true ? logits.keys() : wanted.filter.tokens
      return { next: { logits: new Map([...kept].map((token) => [token, logits[token]!])) } }
    })
  }

  /** Reads on, a few tokens at a time. @returns what may come after those that are wanted, by their index */
  async #read(tokens: readonly number[], wanted: (index: number) => boolean): Promise<(Float32Array | undefined)[]> {
    const { network } = this.#model
    const known = network.shape.vocabulary
    if (this.#tokens.length + tokens.length > this.#size) throw new Error("the context is full")
    if (!tokens.every((token) => token >= 0 && token < known)) throw new Error("there is no such token")
    const logits: (Float32Array | undefined)[] = []
    for (let from = 0; from < tokens.length; from += AT_ONCE) {
      const piece = tokens.slice(from, from + AT_ONCE)
      const read = network.read(piece, this.#tokens.length, this.#memory)
      this.#tokens.push(...piece)
      for (const index of piece.keys()) logits.push(wanted(from + index) ? network.logits(read, index) : undefined)
      await setImmediate()
    }
    return logits
  }

  /** What chooses among the tokens that may come next, one after another. */
  #chooser(options: EvaluateOptions): (logits: Float32Array) => number {
    const sampler = createSampler(samplerConfig(options))
    const { grammarEvaluationState: state, repeatPenalty } = options
    const matcher =
      state instanceof GrammarState
        ? createGbnfMaskEngine(state.grammar, this.#model.grammarTokenizer).matcher()
        : undefined
    return (logits) => {
      // The likeliest token of all is often one that the grammar lets through, and asking for one costs little.
      const likeliest = options.temperature === 0 || matcher === undefined ? sampler.choose(logits) : -1
      const fits = likeliest >= 0 && (matcher === undefined || matcher.accept(likeliest))
      const token = fits ? likeliest : sampler.choose(logits, matcher!.mask())
      if (token < 0) throw new Error("the grammar leaves no token of this vocabulary")
      if (!fits) matcher!.accept(token)
      if (repeatPenalty !== undefined) sampler.accept(token)
      return token
    }
  }
}

function samplerConfig(options: EvaluateOptions): SamplerConfig {
  const { temperature, topK, topP, minP, seed, tokenBias, repeatPenalty } = options
  return {
    temperature,
    ...(topK !== undefined && { topK }),
    ...(topP !== undefined && { topP }),
    ...(minP !== undefined && { minP }),
    ...(seed !== undefined && { seed }),
    ...(tokenBias instanceof Biases && { logitBias: tokenBias.logits }),
    ...(repeatPenalty?.penalty !== undefined && { repetitionPenalty: repeatPenalty.penalty }),
    ...(repeatPenalty?.frequencyPenalty !== undefined && { frequencyPenalty: repeatPenalty.frequencyPenalty }),
    ...(repeatPenalty?.presencePenalty !== undefined && { presencePenalty: repeatPenalty.presencePenalty }),
  }
}

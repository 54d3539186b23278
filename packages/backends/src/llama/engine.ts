import { access } from "node:fs/promises"
import { basename } from "node:path"
import { createTokenizer, describeGbnfProblem, gbnfErrors, type Tokenizer } from "@toolwright/logits"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { FinishReason, SamplingOptions } from "../model/backend.ts"
import {
  importLlama,
  type EvaluateOptions,
  type LlamaContext,
  type LlamaModel,
  type LlamaModule,
  type LlamaRuntime,
  type LlamaSequence,
} from "./module.ts"
import { createStopCutter } from "../stop-cutter.ts"
import { createTokenText } from "./token-text.ts"
import { vocabularyOf, type LlamaVocabulary } from "./vocabulary.ts"
import { engineFailure, penaltiesOf } from "./generation.ts"

export interface LlamaEngineOptions {
  /** A GGUF file. */
  readonly modelPath: string
  /** In tokens; 4,096 or what the model was trained on, whichever is less, unless given. */
  readonly contextSize?: number
  /**
   * Threads for evaluation. Models below 500 MB take 1 unless told otherwise: on a busy machine two threads that wait
   * for each other are many times slower than one.
   */
  readonly threads?: number
  /** `auto` uses a GPU where the installed binaries have one; off unless given. */
  readonly gpu?: "auto" | false
  /** Called while the file is read, from 0 to 1. */
  readonly onProgress?: (share: number) => void
  /** Stops the loading. */
  readonly signal?: AbortSignal
}

export interface GenerateOptions {
  /** GBNF; the reply is held to it from its first token on. Checked before the engine sees it. */
  readonly grammar?: string
  readonly sampling?: SamplingOptions
  readonly signal?: AbortSignal
}

/** What a generation ends with. */
export interface Generated {
  readonly finishReason: FinishReason
  readonly inputTokens: number
  readonly outputTokens: number
  /** What was written, without a token that ends it. */
  readonly tokens: readonly number[]
  /** The model ended it itself. */
  readonly ended: boolean
}

/**
 * A model in this process. Generations run one after another; a prompt that begins as the one before does is not
 * evaluated anew.
 */
export interface LlamaEngine extends AsyncDisposable {
  readonly modelName: string
  /** Of the model's weights, in bytes. */
  readonly modelSize: number
  readonly contextSize: number
  readonly chatTemplate: string | undefined
  readonly bosText: string
  readonly eosText: string
  readonly vocabulary: LlamaVocabulary
  /**
   * The vocabulary as mask engines want it; made on first use, which takes some hundred milliseconds for large
   * vocabularies.
   */
  readonly tokenizer: Tokenizer
  /** The same as llama.cpp's grammars see it: control tokens, as the marks of calls often are, count by their text. */
  readonly grammarTokenizer: Tokenizer
  tokenize(text: string): number[]
  /**
   * Goes on from a raw prompt; markers of control tokens in it count as such.
   *
   * @throws ToolwrightError `GRAMMAR_REFUSED`, `MODEL_REQUEST_REJECTED` when the prompt does not fit,
   *   `MODEL_SERVER_ERROR` when the engine fails; the signal's reason when cancelled
   */
  generate(prompt: string, options?: GenerateOptions): AsyncGenerator<string, Generated, undefined>
  /** Exclusive use of the engine's parts, for decoding loops of one's own. */
  withSequence<Result>(
    work: (parts: { sequence: LlamaSequence; model: LlamaModel }) => Promise<Result>,
  ): Promise<Result>
}

const SMALL_MODEL_BYTES = 500_000_000
const DEFAULT_CONTEXT = 4096

/**
 * Opens a model file.
 *
 * @throws ToolwrightError `MODEL_ENGINE_MISSING`, `MODEL_NOT_FOUND` when the file is not there, `MODEL_SERVER_ERROR`
 *   when it cannot be loaded;
 *   the signal's reason when cancelled
 */
export function openLlama(options: LlamaEngineOptions): Promise<LlamaEngine> {
  return openWith(importLlama, options)
}

/** As `openLlama`, with another engine of the same shape. */
export async function openWith(load: () => Promise<LlamaModule>, options: LlamaEngineOptions): Promise<LlamaEngine> {
  const { modelPath, signal, onProgress } = options
  signal?.throwIfAborted()
  await access(modelPath).catch((cause: unknown) => {
    throw new ToolwrightError("MODEL_NOT_FOUND", `There is no model file at ${modelPath}.`, {
      cause,
      hint: "Give the path of a GGUF file.",
    })
  })
  const module = await load()
  const runtime = await startRuntime(module, options.gpu ?? false)
  let model: LlamaModel | undefined
  try {
    model = await runtime.loadModel({
      modelPath,
      ...(onProgress && { onLoadProgress: onProgress }),
      ...(signal && { loadSignal: signal }),
    })
    const threads = options.threads ?? (model.size < SMALL_MODEL_BYTES ? 1 : undefined)
    const contextSize = options.contextSize ?? Math.min(DEFAULT_CONTEXT, model.trainContextSize)
    const context = await model.createContext({
      contextSize,
      ...(threads !== undefined && { threads }),
      ...(signal && { createSignal: signal }),
    })
    return new Engine(module, runtime, model, context)
  } catch (cause) {
    await model?.dispose()
    await runtime.dispose()
    signal?.throwIfAborted()
    throw new ToolwrightError(
      "MODEL_SERVER_ERROR",
      `The model file ${modelPath} cannot be loaded: ${messageOf(cause)}`,
      {
        cause,
        hint: "Check that it is a whole GGUF file that fits into memory.",
      },
    )
  }
}

/** How many tokens of a prompt are evaluated before the signal is looked at again. */
const PROMPT_STEP = 128

/** Evaluates a prompt up to a last piece, which is returned; what the sequence holds already is not evaluated anew. */
export async function readPrompt(
  sequence: LlamaSequence,
  tokens: readonly number[],
  signal?: AbortSignal,
): Promise<number[]> {
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false)
  let rest = tokens.slice(sequence.nextTokenIndex)
  while (rest.length > PROMPT_STEP) {
    signal?.throwIfAborted()
    await sequence.evaluateWithoutGeneratingNewTokens(rest.slice(0, PROMPT_STEP))
    rest = rest.slice(PROMPT_STEP)
  }
  return rest
}

/** Only binaries that are installed: nothing is built, nothing fetched. */
async function startRuntime(module: LlamaModule, gpu: "auto" | false): Promise<LlamaRuntime> {
  try {
    return await module.getLlama({
      build: "never",
      skipDownload: true,
      progressLogs: false,
      gpu,
      logLevel: module.LlamaLogLevel.disabled,
    })
  } catch (cause) {
    throw new ToolwrightError(
      "MODEL_ENGINE_MISSING",
      `node-llama-cpp has no binary that works here: ${messageOf(cause)}`,
      {
        cause,
        hint:
          "Reinstall it on this machine with its optional dependencies: npm install node-llama-cpp@3.22.1 " +
          "--include=optional",
      },
    )
  }
}

/**
 * One that holds arguments to a conversation is used once, may have millions of characters, and takes five bytes for
 * each.
 */
const KEPT_GRAMMARS = { most: 50, characters: 8_000_000 }

class Engine implements LlamaEngine {
  readonly modelName: string
  readonly vocabulary: LlamaVocabulary
  readonly #module: LlamaModule
  readonly #runtime: LlamaRuntime
  readonly #model: LlamaModel
  readonly #context: LlamaContext
  readonly #sequence: LlamaSequence
  readonly #grammars = new Map<string, Promise<unknown>>()
  #grammarChars = 0
  #queue: Promise<unknown> = Promise.resolve()
  #tokenizer: Tokenizer | undefined
  #grammarTokenizer: Tokenizer | undefined
  #disposed = false

  constructor(module: LlamaModule, runtime: LlamaRuntime, model: LlamaModel, context: LlamaContext) {
    this.#module = module
    this.#runtime = runtime
    this.#model = model
    this.#context = context
    this.#sequence = context.getSequence()
    this.vocabulary = vocabularyOf(model)
    this.modelName = model.fileInfo.metadata.general?.name ?? basename(model.filename ?? "model", ".gguf")
  }

  get modelSize(): number {
    return this.#model.size
  }

  get contextSize(): number {
    return this.#context.contextSize
  }

  get chatTemplate(): string | undefined {
    return this.#model.fileInfo.metadata.tokenizer?.chat_template
  }

  get tokenizer(): Tokenizer {
    const { bytes, endTokens } = this.vocabulary
    return (this.#tokenizer ??= createTokenizer({ tokens: bytes.map((own) => own ?? null), eos: endTokens }))
  }

  get grammarTokenizer(): Tokenizer {
    if (this.#grammarTokenizer === undefined) {
      const encoder = new TextEncoder()
      const { bytes, texts, endTokens } = this.vocabulary
      const tokens = bytes.map((own, token) => own ?? encoder.encode(texts[token]))
      this.#grammarTokenizer = createTokenizer({ tokens, eos: endTokens })
    }
    return this.#grammarTokenizer
  }

  get bosText(): string {
    return this.#model.tokens.bosString ?? ""
  }

  get eosText(): string {
    return this.#model.tokens.eosString ?? ""
  }

  tokenize(text: string): number[] {
    return this.#model.tokenize(text, true)
  }

  async *generate(
    prompt: string,
    { grammar, sampling = {}, signal }: GenerateOptions = {},
  ): AsyncGenerator<string, Generated, undefined> {
    signal?.throwIfAborted()
    const compiled = grammar === undefined ? undefined : await this.#grammar(grammar)
    const release = await this.#enter(signal)
    try {
      signal?.throwIfAborted()
      const tokens = this.#fit(prompt)
      const rest = await readPrompt(this.#sequence, tokens, signal)
      const limit = this.#limit(sampling, tokens)
      const text = createTokenText(this.vocabulary)
      const cutter = createStopCutter(sampling.stop ?? [])
      const produced: number[] = []
      let finishReason: FinishReason = "stop"
      for await (const token of this.#sequence.evaluate(rest, this.#options(sampling, compiled, produced))) {
        signal?.throwIfAborted()
        produced.push(token)
        const out = cutter.push(text.push(token))
        if (out !== "") yield out
        if (cutter.stopped) break
        if (produced.length >= limit) {
          finishReason = "length"
          break
        }
      }
      const last = cutter.push(text.end()) + cutter.end()
      if (last !== "") yield last
      const ended = finishReason === "stop" && !cutter.stopped
      return { finishReason, inputTokens: tokens.length, outputTokens: produced.length, tokens: produced, ended }
    } catch (thrown) {
      throw engineFailure(thrown, signal)
    } finally {
      release()
    }
  }

  async withSequence<Result>(
    work: (parts: { sequence: LlamaSequence; model: LlamaModel }) => Promise<Result>,
  ): Promise<Result> {
    const release = await this.#enter()
    try {
      return await work({ sequence: this.#sequence, model: this.#model })
    } finally {
      release()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#disposed) return
    this.#disposed = true
    await this.#queue
    await this.#context.dispose()
    await this.#model.dispose()
    await this.#runtime.dispose()
  }

  /** Waits until it is this caller's turn; one that gives up leaves its turn to the next. */
  async #enter(signal?: AbortSignal): Promise<() => void> {
    if (this.#disposed) throw new ToolwrightError("MODEL_SERVER_ERROR", "The model has been closed.")
    signal?.throwIfAborted()
    const before = this.#queue
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#queue = promise
    const given = Promise.withResolvers<void>()
    const giveUp = () => given.resolve()
    signal?.addEventListener("abort", giveUp, { once: true })
    await Promise.race([before, given.promise])
    signal?.removeEventListener("abort", giveUp)
    if (signal?.aborted === true) void before.then(() => resolve())
    signal?.throwIfAborted()
    return resolve
  }

  /** A grammar that the engine would refuse, or die of, never gets there. */
  #grammar(text: string): Promise<unknown> {
    const known = this.#grammars.get(text)
    if (known !== undefined) return known
    const errors = gbnfErrors(text)
    if (errors.length > 0) {
      throw new ToolwrightError(
        "GRAMMAR_REFUSED",
        `The grammar cannot be used: ${errors.map(describeGbnfProblem).join("; ")}.`,
      )
    }
    const made = this.#runtime.createGrammar({ grammar: text }).catch((cause: unknown) => {
      throw new ToolwrightError("GRAMMAR_REFUSED", `llama.cpp refuses the grammar: ${messageOf(cause)}`, { cause })
    })
    this.#grammarChars += text.length
    if (this.#grammars.size >= KEPT_GRAMMARS.most || this.#grammarChars > KEPT_GRAMMARS.characters) {
      this.#grammars.clear()
      this.#grammarChars = text.length
    }
    this.#grammars.set(text, made)
    return made
  }

  /** The most tokens of a reply. */
  #limit({ maxTokens = Infinity }: SamplingOptions, prompt: readonly number[]): number {
    return Math.min(maxTokens, this.contextSize - prompt.length)
  }

  #fit(prompt: string): number[] {
    const tokens = this.tokenize(prompt)
    if (tokens.length === 0) throw new ToolwrightError("MODEL_REQUEST_REJECTED", "The prompt is empty.")
    if (tokens.length >= this.contextSize) {
      throw new ToolwrightError(
        "MODEL_REQUEST_REJECTED",
        `The prompt has ${tokens.length} tokens; the context holds ${this.contextSize}.`,
        {
          hint: "Shorten the conversation, or open the model with a larger `contextSize`.",
        },
      )
    }
    return tokens
  }

  #options(sampling: SamplingOptions, grammar: unknown, produced: number[]): EvaluateOptions {
    const { logitBias } = sampling
    const options: EvaluateOptions = { temperature: sampling.temperature ?? 0.8 }
    if (sampling.topK !== undefined) options.topK = sampling.topK
    if (sampling.topP !== undefined) options.topP = sampling.topP
    if (sampling.minP !== undefined) options.minP = sampling.minP
    if (sampling.seed !== undefined && sampling.seed >= 0) options.seed = sampling.seed
    if (grammar !== undefined)
      options.grammarEvaluationState = new this.#module.LlamaGrammarEvaluationState({ model: this.#model, grammar })
    const repeatPenalty = penaltiesOf(sampling)
    if (repeatPenalty !== undefined)
      options.repeatPenalty = { punishTokens: () => produced.slice(-64), ...repeatPenalty }
    if (logitBias !== undefined) {
      const bias = this.#module.TokenBias.for(this.#model)
      for (const [token, logit] of Object.entries(logitBias)) bias.set(Number(token), { logit })
      options.tokenBias = bias
    }
    return options
  }
}

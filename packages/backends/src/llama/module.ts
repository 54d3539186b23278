import { ToolwrightError } from "@toolwright/toolbox"

/**
 * The part of `node-llama-cpp` (3.22) that is used here, by shape: the package is an optional peer and is loaded when a
 * model is opened, not before. Tokens are plain numbers to us.
 */
export interface LlamaModule {
  getLlama(options: {
    build: "never"
    skipDownload: true
    progressLogs: false
    gpu: "auto" | false
    logLevel: unknown
    maxThreads?: number
  }): Promise<LlamaRuntime>
  LlamaLogLevel: { readonly error: unknown; readonly disabled: unknown }
  LlamaGrammarEvaluationState: new (options: { model: LlamaModel; grammar: unknown }) => LlamaGrammarState
  TokenBias: { for(model: LlamaModel): { set(token: number, bias: { logit: number }): unknown } }
}

export type LlamaGrammarState = object

export interface LlamaRuntime {
  loadModel(options: {
    modelPath: string
    onLoadProgress?: (share: number) => void
    loadSignal?: AbortSignal
  }): Promise<LlamaModel>
  createGrammar(options: { grammar: string }): Promise<unknown>
  dispose(): Promise<void>
}

export interface LlamaModel {
  readonly size: number
  readonly trainContextSize: number
  readonly filename: string | undefined
  readonly tokens: { readonly bosString: string | null; readonly eosString: string | null }
  readonly fileInfo: {
    readonly metadata: { readonly general?: { readonly name?: string }; readonly tokenizer?: LlamaTokenizerMetadata }
  }
  tokenize(text: string, specialTokens?: boolean): number[]
  isEogToken(token: number): boolean
  createContext(options: { contextSize?: number; threads?: number; createSignal?: AbortSignal }): Promise<LlamaContext>
  dispose(): Promise<void>
}

export interface LlamaTokenizerMetadata {
  readonly chat_template?: string
  readonly ggml: { readonly model: string; readonly tokens: readonly string[]; readonly token_type?: readonly number[] }
}

export interface LlamaContext {
  readonly contextSize: number
  getSequence(): LlamaSequence
  dispose(): Promise<void>
}

export interface LlamaSequence {
  readonly nextTokenIndex: number
  adaptStateToTokens(tokens: readonly number[], allowShift?: boolean): Promise<void>
  evaluate(tokens: readonly number[], options: EvaluateOptions): AsyncGenerator<number, void, undefined>
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>
  controlledEvaluate(
    input: readonly (
      | number
      | readonly [
          token: number,
          options: { generateNext: { logits: true | { filter: { tokens: readonly number[] } } } },
        ]
    )[],
  ): Promise<({ next: { logits?: ReadonlyMap<number, number> } } | undefined)[]>
}

export interface EvaluateOptions {
  temperature: number
  topK?: number
  topP?: number
  minP?: number
  seed?: number
  grammarEvaluationState?: LlamaGrammarState
  tokenBias?: unknown
  repeatPenalty?: {
    punishTokens: () => number[]
    penalty?: number
    frequencyPenalty?: number
    presencePenalty?: number
  }
}

/** @throws ToolwrightError `MODEL_ENGINE_MISSING` with the command that installs it */
export async function importLlama(): Promise<LlamaModule> {
  const name = "node-llama-cpp"
  try {
    return (await import(name)) as LlamaModule
  } catch (cause) {
    throw new ToolwrightError(
      "MODEL_ENGINE_MISSING",
      "The in-process engine needs the package node-llama-cpp, which cannot be loaded.",
      {
        cause,
        hint: "Install it: npm install node-llama-cpp@3.22.1",
      },
    )
  }
}

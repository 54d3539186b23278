import { ToolwrightError } from "@toolwright/toolbox"
import { allowedTokens, createSampler, type LogitFilter, type SamplerConfig } from "@toolwright/logits"
import { readPrompt, type LlamaEngine } from "./engine.ts"
import type { LlamaSequence } from "./module.ts"
import { createTokenText } from "./token-text.ts"

/**
 * What decides, token by token, what may come next, such as a mask engine's matcher. Bit `t & 31` of word `t >> 5`
 * stands for token `t`; end tokens have bits too.
 */
export interface TokenConstraint {
  mask(): Uint32Array
  accept(token: number): unknown
}

export interface MaskedOptions {
  readonly constraint: TokenConstraint
  readonly sampler?: SamplerConfig
  /** Filters on top of the constraint, such as a safety filter. */
  readonly filter?: LogitFilter
  /** 1,000 unless given. */
  readonly maxTokens?: number
  readonly signal?: AbortSignal
}

export interface MaskedResult {
  readonly text: string
  readonly tokens: readonly number[]
  /** How many of them had no alternative and were not asked of the model. */
  readonly forced: number
  readonly finishReason: "stop" | "length"
}

/** Up to so many allowed tokens, only their logits are fetched from the engine; fetching all of them costs more. */
const FEW = 256

/**
 * Generates with masks of our own in place of the engine's grammar: the model is asked for logits, the mask says which
 * tokens count, our sampler chooses. Where only one token may come, the model is not asked.
 *
 * @example
 * const constraint = createMaskEngine(grammar, engine.tokenizer).matcher()
 * const { text } = await generateMasked(engine, prompt, { constraint, sampler: { temperature: 0.7 } })
 *
 * @throws ToolwrightError `GRAMMAR_DEAD_END` when no token may come; the signal's reason when cancelled
 */
export async function generateMasked(
  engine: LlamaEngine,
  prompt: string,
  options: MaskedOptions,
): Promise<MaskedResult> {
  const { constraint, filter, signal, maxTokens = 1000 } = options
  const sampler = createSampler(options.sampler)
  const { endTokens, texts } = engine.vocabulary
  const ends = new Set(endTokens)
  const prefix = engine.tokenize(prompt)
  const limit = Math.min(maxTokens, engine.contextSize - prefix.length - 1)

  return engine.withSequence(async ({ sequence }) => {
    let pending = await readPrompt(sequence, prefix, signal)
    const tokens: number[] = []
    const text = createTokenText(engine.vocabulary)
    let written = ""
    let forced = 0
    for (;;) {
      signal?.throwIfAborted()
      const mask = constraint.mask()
      const allowed = allowedTokens(mask)
      if (allowed.length === 0)
        throw new ToolwrightError("GRAMMAR_DEAD_END", "The grammar leaves no token of this vocabulary.")
      if (allowed.every((token) => ends.has(token))) break
      if (tokens.length >= limit) return { text: written + text.end(), tokens, forced, finishReason: "length" as const }
      let token = allowed[0]!
      if (allowed.length > 1) {
        const logits = await logitsAfter(sequence, pending, allowed, texts.length)
        filter?.apply(logits)
        token = sampler.choose(logits, mask)
        if (token < 0)
          throw new ToolwrightError("GRAMMAR_DEAD_END", "The filters leave no token that the grammar allows.")
        pending = []
      } else forced++
      if (ends.has(token)) break
      constraint.accept(token)
      if (filter?.accept(token) === false)
        throw new ToolwrightError("GRAMMAR_DEAD_END", "The grammar leaves only a token that the filters forbid.")
      sampler.accept(token, { forced: allowed.length === 1 })
      tokens.push(token)
      pending.push(token)
      written += text.push(token)
    }
    return { text: written + text.end(), tokens, forced, finishReason: "stop" as const }
  })
}

/** Evaluates tokens; the logits of those that are not asked for are minus infinity. */
async function logitsAfter(
  sequence: LlamaSequence,
  pending: readonly number[],
  allowed: readonly number[],
  size: number,
): Promise<Float32Array> {
  const last = pending.at(-1)!
  const logits = allowed.length <= FEW ? { filter: { tokens: allowed } } : (true as const)
  const outputs = await sequence.controlledEvaluate([...pending.slice(0, -1), [last, { generateNext: { logits } }]])
  const result = new Float32Array(size).fill(Number.NEGATIVE_INFINITY)
  for (const [token, logit] of outputs[pending.length - 1]?.next.logits ?? []) result[token] = logit
  return result
}

import { ToolwrightError } from "@toolwright/toolbox"
import { applyMask } from "../masks/apply.ts"

/** A tensor of `@huggingface/transformers`, as far as it is touched: logits of a batch, one row for each sequence. */
export interface LogitsTensor {
  readonly data: unknown
  readonly dims: readonly number[]
}

/** What makes masks: a `MaskEngine`, or a `GbnfMaskEngine` for a grammar that someone wrote. */
export interface MaskSource {
  readonly tokenizer: { readonly eos: readonly number[] }
  matcher(): MaskFollower
}

interface MaskFollower {
  accept(token: number): boolean
  mask(): Uint32Array
  isEnded(): boolean
  clone(): MaskFollower
}

/**
 * A `LogitsProcessor` by shape: transformers calls its processors as functions. `_call` is the name under which
 * subclasses of its own implement the same.
 */
export interface GrammarLogitsProcessor {
  <Tensor extends LogitsTensor>(inputIds: readonly (readonly (bigint | number)[])[], logits: Tensor): Tensor
  _call<Tensor extends LogitsTensor>(inputIds: readonly (readonly (bigint | number)[])[], logits: Tensor): Tensor
  /** Forgets everything, to be used for another `generate`. */
  reset(): void
}

/** A sequence as far as it has been followed. */
interface Followed {
  readonly ids: readonly number[]
  readonly matcher: MaskFollower
}

/**
 * Holds the generation of `@huggingface/transformers` to a grammar, in Node and in browsers. Pass it as
 * `logits_processor: [processor]`; it works on batches and on beams. One processor serves one `generate` at a time.
 *
 * @param options `promptLength` in tokens; what the first call is given counts as the prompt unless it is set
 * @throws ToolwrightError while generating `GRAMMAR_MISMATCH` when a token came that the grammar forbids (another
 *   processor forced it)
 * @example
 * const engine = createMaskEngine(grammar, createTokenizer(vocabularyFromTokenizerJson(tokenizerJson, ["<|im_end|>"])))
 * await model.generate({ ...inputs, logits_processor: [createLogitsProcessor(engine)] })
 */
export function createLogitsProcessor(
  engine: MaskSource,
  options: { promptLength?: number } = {},
): GrammarLogitsProcessor {
  let promptLength = options.promptLength
  let known: readonly Followed[] = []

  const follow = (ids: readonly number[]): Followed => {
    const same = known.find((entry) => equal(entry.ids, ids, ids.length))
    if (same !== undefined) return same
    const parent = known.find((entry) => entry.ids.length === ids.length - 1 && equal(entry.ids, ids, entry.ids.length))
    const matcher = parent?.matcher.clone() ?? engine.matcher()
    for (const token of parent === undefined ? ids : ids.slice(-1)) {
      // A row that has ended is filled up with padding until the others have, too.
      if (matcher.isEnded() || matcher.accept(token)) continue
      throw new ToolwrightError("GRAMMAR_MISMATCH", `Token ${token} came although the grammar forbids it.`, {
        hint: "Put no processor that forces tokens after this one, and use one processor for one generation.",
      })
    }
    return { ids, matcher }
  }

  const process = <Tensor extends LogitsTensor>(
    inputIds: readonly (readonly (bigint | number)[])[],
    logits: Tensor,
  ): Tensor => {
    promptLength ??= inputIds[0]?.length ?? 0
    const data = logits.data
    if (!(data instanceof Float32Array)) {
      throw new ToolwrightError("UNSUPPORTED_LOGITS", "The logits are not 32-bit floats.", {
        hint: "Load the model so that its output is float32.",
      })
    }
    const size = logits.dims.at(-1) ?? data.length
    const rows = inputIds.map((ids) => follow(ids.slice(promptLength).map(Number)))
    rows.forEach(({ matcher }, row) => {
      const part = data.subarray(row * size, (row + 1) * size)
      if (matcher.isEnded()) keepOnly(part, engine.tokenizer.eos)
      else applyMask(part, matcher.mask())
    })
    known = rows
    return logits
  }
  return Object.assign(process, {
    _call: process,
    reset() {
      known = []
      ;({ promptLength } = options)
    },
  })
}

function equal(a: readonly number[], b: readonly number[], length: number): boolean {
  if (a.length < length || b.length < length) return false
  for (let index = length - 1; index >= 0; index--) if (a[index] !== b[index]) return false
  return true
}

function keepOnly(logits: Float32Array, tokens: readonly number[]): void {
  const kept = tokens.map((token) => [token, logits[token]!] as const)
  logits.fill(Number.NEGATIVE_INFINITY)
  for (const [token, logit] of kept) logits[token] = logit
}

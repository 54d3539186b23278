/** Holds a reply to one call of one of the tools, and shows how far it is. */
import { toolCallExpression } from "../constraint/tool-calls.ts"
import { grammarOf } from "../grammar/rules.ts"
import { type CallKeys, DEFAULT_KEYS, type ToolSignature } from "../grammar/tool-call-schema.ts"
import { applyMask } from "../masks/apply.ts"
import { createMaskEngine, type MaskEngine, type TokenMatcher } from "../masks/engine.ts"
import type { Tokenizer } from "../masks/tokenizer.ts"
import { EMPTY_ENVELOPE, type Envelope, readEnvelope, type ToolCallState } from "./envelope.ts"
import type { LogitFilter } from "./logit-filter.ts"

export interface ToolCallFilterOptions {
  readonly tools: readonly ToolSignature[]
  readonly tokenizer: Tokenizer
  /** The keys of name and arguments; `name` and `args` where left out. */
  readonly keys?: CallKeys
}

/**
 * A filter with the states of a call. In each state only these can come next, apart from white space: `{`; the key of
 * the name; the names of the tools; the key of the arguments; whatever the tool's schema allows; `}`; the end of the
 * reply. A token may reach over several of them.
 */
export interface ToolCallFilter extends LogitFilter {
  readonly state: ToolCallState
  /** The tool that is being called, once its name is through. */
  readonly tool: string | undefined
  /** Bit by token; see {@link MaskEngine.mask}. */
  mask(): Uint32Array
  readonly matcher: TokenMatcher
  clone(): ToolCallFilter
}

/** @throws ToolwrightError `SCHEMA_REFUSED` where a tool's parameters cannot be expressed */
export function createToolCallFilter({ tools, tokenizer, keys = DEFAULT_KEYS }: ToolCallFilterOptions): ToolCallFilter {
  const engine = createMaskEngine(grammarOf(toolCallExpression(tools, keys)), tokenizer)
  return filterAt(engine, engine.matcher(), [EMPTY_ENVELOPE])
}

function filterAt(engine: MaskEngine, initial: TokenMatcher, past: readonly Envelope[]): ToolCallFilter {
  let matcher = initial
  // One entry for the beginning and one for each token since.
  let envelopes = [...past]
  const here = (): Envelope => envelopes.at(-1)!
  const decoder = new TextDecoder()
  return {
    name: "tool-call",
    get matcher() {
      return matcher
    },
    get state() {
      return here().state
    },
    get tool() {
      const { state, name } = here()
      const known = state !== "expecting-start" && state !== "expecting-tool-name" && state !== "expecting-name-value"
      return known ? (JSON.parse(`"${decoder.decode(Uint8Array.from(name))}"`) as string) : undefined
    },
    mask: () => matcher.mask(),
    apply: (logits) => applyMask(logits, matcher.mask()),
    accept(token) {
      if (!matcher.accept(token)) return false
      const bytes = matcher.isEnded() ? new Uint8Array(0) : engine.tokenizer.bytesOf(token)!
      envelopes.push(bytes.reduce(readEnvelope, here()))
      return true
    },
    rollback(tokens = 1) {
      matcher.rollback(tokens)
      envelopes.length -= tokens
    },
    reset() {
      matcher = engine.matcher()
      envelopes = [EMPTY_ENVELOPE]
    },
    clone: () => filterAt(engine, matcher.clone(), envelopes),
  }
}

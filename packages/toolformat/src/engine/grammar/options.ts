import type { Effort, Grounding } from "@toolwright/logits"

/** What the grammar of a format is to allow. */
export interface FormatGrammarOptions {
  /** `call`: one or more calls and nothing else. `text-or-call`, the default: text, then calls, or either alone. */
  mode?: "call" | "text-or-call"
  /** Whether a reply may have several calls. True unless given. */
  parallel?: boolean
  /** Whether reasoning between the family's marks may come first, where the mode is `call`. */
  reasoning?: boolean
  /** A conversation, and which arguments have to come from it; see `docs/grounded-arguments.md`. */
  grounding?: Grounding
  /** Names of tools whose arguments may be anything, since their schemas are known to be too much for a grammar. */
  free?: ReadonlySet<string>
  /**
   * Hears of each tool whose schema is refused; its arguments may be anything then. Where nobody hears of it, the whole
   * grammar is refused.
   */
  onRefused?: (refusal: RefusedSchema) => void
  /** What may be worked out for the tools' schemas, shared by several grammars; each has its own unless given. */
  effort?: Effort
}

/** A tool that is called without a grammar of its arguments, and why. */
export interface RefusedSchema {
  readonly tool: string
  readonly reason: string
}

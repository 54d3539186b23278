import type { GbnfGrammar } from "@toolwright/logits"
import type { LlamaGrammarState, LlamaModel } from "../llama/module.ts"

/** The grammar that a reply is held to. */
export class GrammarState implements LlamaGrammarState {
  readonly grammar: GbnfGrammar

  constructor({ grammar }: { model: LlamaModel; grammar: unknown }) {
    this.grammar = grammar as GbnfGrammar
  }
}

/** Logits that are raised or lowered, by token. */
export class Biases {
  readonly logits: Record<number, number> = {}

  set(token: number, { logit }: { logit: number }): this {
    this.logits[token] = logit
    return this
  }
}

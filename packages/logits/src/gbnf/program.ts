import { ToolwrightError } from "@toolwright/toolbox"
import { ALL, invertRanges, normaliseRanges } from "../automaton/ranges.ts"
import { isNullable, nullableRules } from "./check.ts"
import type { CodePointRange } from "../grammar/rules.ts"
import type { GbnfGrammar, GbnfNode, GbnfRule } from "./model.ts"

/**
 * One step of the matcher's program. `next` is where matching goes on; `-1` stands for the end of the rule.
 *
 * A repetition whose item may be empty has a minimum of 0, since empty rounds could fill it up.
 */
export type Step =
  | { readonly op: "characters"; readonly ranges: readonly CodePointRange[]; readonly next: number }
  | { readonly op: "token"; readonly id: number; readonly negated: boolean; readonly next: number }
  | { readonly op: "call"; readonly rule: number; readonly next: number }
  | { readonly op: "split"; readonly next: readonly number[] }
  | { readonly op: "repeat"; readonly body: number; readonly min: number; readonly max: number; readonly next: number }

export interface Program {
  readonly steps: readonly Step[]
  /** Where each rule begins. */
  readonly entries: readonly number[]
  readonly root: number
  readonly hasTokens: boolean
  /** How many positions and frames were made for it: each has a number of its own. */
  readonly counts: { positions: number; frames: number; steps: number }
}

/** The end of a rule or of a repetition's body. */
export const RETURN = -1

/** How a grammar's `<text>` tokens get their numbers, and which rule it begins with. */
export interface GbnfMatcherOptions {
  readonly root?: string
  /** The number of the one token with this text, brackets included. */
  readonly tokenId?: (text: string) => number | undefined
}

/**
 * Translates a grammar for the matcher.
 *
 * @throws ToolwrightError `GBNF_INVALID` for an undefined rule, a missing root, or a token that the vocabulary does not
 *   have
 */
export function compileGbnf(grammar: GbnfGrammar, options: GbnfMatcherOptions = {}): Program {
  return new Compiler(grammar, options).program()
}

/** Emits steps from the end of each rule to its beginning, since each has to know where matching goes on. */
class Compiler {
  readonly #rules: ReadonlyMap<string, GbnfRule>
  readonly #index: ReadonlyMap<string, number>
  readonly #nullable: ReadonlySet<string>
  readonly #options: GbnfMatcherOptions
  readonly #steps: Step[] = []
  #hasTokens = false

  constructor(grammar: GbnfGrammar, options: GbnfMatcherOptions) {
    this.#rules = new Map(grammar.rules.map((rule) => [rule.name, rule]))
    this.#index = new Map([...this.#rules.keys()].map((name, at) => [name, at]))
    this.#nullable = nullableRules(this.#rules)
    this.#options = options
  }

  program(): Program {
    const entries = [...this.#rules.values()].map(({ body }) => this.#emit(body, RETURN))
    return {
      steps: this.#steps,
      entries,
      root: this.#ruleIndex(this.#options.root ?? "root"),
      hasTokens: this.#hasTokens,
      counts: { positions: 0, frames: 0, steps: 0 },
    }
  }

  #add(step: Step): number {
    return this.#steps.push(step) - 1
  }

  #ruleIndex(name: string): number {
    const at = this.#index.get(name)
    if (at === undefined) throw new ToolwrightError("GBNF_INVALID", `The grammar has no rule '${name}'.`)
    return at
  }

  #emit(node: GbnfNode, next: number): number {
    switch (node.kind) {
      case "literal":
        return node.text.reduceRight((after, code) => this.#characters([[code, code]], after), next)
      case "class":
        if (node.ranges.length === 0) return next
        return this.#characters(
          withoutSurrogates(node.negated ? invertRanges(node.ranges) : normaliseRanges(node.ranges)),
          next,
        )
      case "any":
        return this.#characters(withoutSurrogates(ALL), next)
      case "token":
        return this.#token(node, next)
      case "rule":
        return this.#add({ op: "call", rule: this.#ruleIndex(node.name), next })
      case "sequence":
        return node.items.reduceRight((after, item) => this.#emit(item, after), next)
      case "choice":
        return this.#add({ op: "split", next: node.options.map((option) => this.#emit(option, next)) })
      case "repeat":
        return node.max === 0 ? next : this.#repeat(node, next)
    }
  }

  #characters(ranges: readonly CodePointRange[], next: number): number {
    return this.#add({ op: "characters", ranges, next })
  }

  #token(node: Extract<GbnfNode, { kind: "token" }>, next: number): number {
    this.#hasTokens = true
    const id = node.id ?? this.#options.tokenId?.(node.text ?? "")
    if (id !== undefined) return this.#add({ op: "token", id, negated: node.negated, next })
    throw new ToolwrightError(
      "GBNF_INVALID",
      `The grammar names the token ${node.text}, which is no single token of this vocabulary.`,
      { hint: "Pass `tokenId`, or write the token by its number: <[1000]>." },
    )
  }

  #repeat({ item, min, max = Number.POSITIVE_INFINITY }: Extract<GbnfNode, { kind: "repeat" }>, next: number): number {
    const least = isNullable(item, this.#nullable) ? 0 : min
    return this.#add({ op: "repeat", body: this.#emit(item, RETURN), min: least, max, next })
  }
}

/** No text in UTF-8 holds a surrogate. */
function withoutSurrogates(ranges: readonly CodePointRange[]): CodePointRange[] {
  return ranges.flatMap(([first, last]): CodePointRange[] =>
    last < 0xd800 || first > 0xdfff
      ? [[first, last]]
      : (
          [
            [first, 0xd7ff],
            [0xe000, last],
          ] as CodePointRange[]
        ).filter(([from, to]) => from <= to),
  )
}

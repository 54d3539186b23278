import type { CodePointRange } from "../grammar/rules.ts"

/**
 * GBNF, the grammar notation of llama.cpp, as data. Characters are Unicode code points; a class holds inclusive ranges.
 *
 * Source of the notation: `grammars/README.md` and the parser of llama.cpp (release v0.5.0), whose behaviour the tests
 * compare with where the engine is installed.
 */
export type GbnfNode =
  | { readonly kind: "literal"; readonly text: readonly number[] }
  | { readonly kind: "class"; readonly negated: boolean; readonly ranges: readonly CodePointRange[] }
  | { readonly kind: "any" }
  | {
      readonly kind: "token"
      readonly negated: boolean
      readonly id?: number
      readonly text?: string
      readonly at?: GbnfPosition
    }
  | { readonly kind: "rule"; readonly name: string; readonly at?: GbnfPosition }
  | { readonly kind: "sequence"; readonly items: readonly GbnfNode[] }
  | { readonly kind: "choice"; readonly options: readonly GbnfNode[] }
  | {
      readonly kind: "repeat"
      readonly item: GbnfNode
      readonly min: number
      readonly max?: number
      readonly at?: GbnfPosition
    }

/** A place in grammar text: both count from 1; a column counts code points. */
export interface GbnfPosition {
  readonly line: number
  readonly column: number
}

/** `name ::= body`. */
export interface GbnfRule {
  readonly name: string
  readonly body: GbnfNode
  readonly at?: GbnfPosition
}

/** A grammar: its rules in the order of their definition. Where a name is defined twice the later rule counts. */
export interface GbnfGrammar {
  readonly rules: readonly GbnfRule[]
}

export type GbnfProblemCode =
  | "syntax"
  | "undefined-rule"
  | "missing-root"
  | "left-recursion"
  | "empty-loop"
  | "never-ends"
  | "reversed-bounds"
  | "too-many-repetitions"
  | "unlimited-repetition"
  | "unused-rule"
  | "duplicate-rule"
  | "underscore-in-name"
  | "empty-class"

/**
 * Something wrong with a grammar. An `error` is what llama.cpp refuses, hangs on or dies of, or what cannot match
 * anything; a `warning` is accepted but hardly meant. `expected` is set for syntax errors.
 */
export interface GbnfProblem extends GbnfPosition {
  readonly severity: "error" | "warning"
  readonly code: GbnfProblemCode
  readonly message: string
  readonly rule?: string
  readonly expected?: string
}

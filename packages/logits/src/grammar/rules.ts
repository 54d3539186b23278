/**
 * The one representation of a grammar. A matcher runs it as it is; GBNF text is printed from its plain part
 * ({@link PlainExpression}), into which `lower` turns the two rich kinds, `until` and `value`.
 *
 * Everything here is plain data. A grammar describes text as a sequence of Unicode code points; bytes are UTF-8.
 */
import type { CodePointRange } from "../automaton/ranges.ts"
import type { BoundGrounding } from "./bound-grounding.ts"
import type { Notation } from "./notation.ts"
import type { ValueType } from "../schema/types.ts"

export type { CodePointRange }

/** What GBNF can say. */
export type PlainExpression =
  /** Exactly this text. */
  | { readonly kind: "literal"; readonly text: string }
  /** One code point out of the ranges. */
  | { readonly kind: "chars"; readonly ranges: readonly CodePointRange[] }
  | { readonly kind: "sequence"; readonly parts: readonly PlainExpression[] }
  | { readonly kind: "choice"; readonly options: readonly PlainExpression[] }
  /** `of`, at least `min` and at most `max` times; no upper bound where `max` is undefined. */
  | { readonly kind: "repeat"; readonly of: PlainExpression; readonly min: number; readonly max: number | undefined }
  /** The rule of that name. */
  | { readonly kind: "rule"; readonly name: string }
  | TokenTerminal

/** One token of the model's vocabulary (llama.cpp: `<think>`, `<[1000]>`, `!<think>`), by its text or by its id. */
export interface TokenTerminal {
  readonly kind: "token"
  readonly token: string | number
  readonly negated: boolean
}

/** What a matcher can run. */
export type Expression =
  | Exclude<PlainExpression, { kind: "sequence" | "choice" | "repeat" }>
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "repeat"; readonly of: Expression; readonly min: number; readonly max: number | undefined }
  /** Any text, the empty one too, in which none of the markers stands. The marker itself is not part of it. */
  | { readonly kind: "until"; readonly markers: readonly string[] }
  /** A value of a schema's type, written in a notation. */
  | { readonly kind: "value"; readonly type: ValueType; readonly notation: Notation }

/**
 * Where a lazy grammar begins: the text before it is free, the constraint starts with the trigger's own first
 * character.
 */
export interface Trigger {
  readonly text: string
}

/** A grammar of plain rules: what the GBNF printer takes. Rules are printed in the order of the map, `start` first. */
export interface PlainGrammar {
  readonly start: string
  readonly rules: ReadonlyMap<string, PlainExpression>
  readonly triggers?: readonly Trigger[]
}

/** A grammar of rich rules: what the matcher takes. Every {@link PlainGrammar} is one. */
export interface Grammar {
  readonly start: string
  readonly rules: ReadonlyMap<string, Expression>
  readonly triggers?: readonly Trigger[]
  /** What values that are grounded have to come from, see `bindGrammar`. Without it they may be anything. */
  readonly grounding?: BoundGrounding
}

export const literal = (text: string): PlainExpression => ({ kind: "literal", text })
export const chars = (...ranges: CodePointRange[]): PlainExpression => ({ kind: "chars", ranges })
export const rule = (name: string): PlainExpression => ({ kind: "rule", name })
export const until = (...markers: string[]): Expression => ({ kind: "until", markers })
export const value = (type: ValueType, notation: Notation): Expression => ({ kind: "value", type, notation })

export function sequence(...parts: PlainExpression[]): PlainExpression
export function sequence(...parts: Expression[]): Expression
export function sequence(...parts: Expression[]): Expression {
  return parts.length === 1 ? parts[0]! : { kind: "sequence", parts }
}

export function choice(...options: PlainExpression[]): PlainExpression
export function choice(...options: Expression[]): Expression
export function choice(...options: Expression[]): Expression {
  return options.length === 1 ? options[0]! : { kind: "choice", options }
}

/** @param max no upper bound where it is left out */
export function repeat(of: PlainExpression, min: number, max?: number): PlainExpression
export function repeat(of: Expression, min: number, max?: number): Expression
export function repeat(of: Expression, min: number, max?: number): Expression {
  return { kind: "repeat", of, min, max }
}

export function optional(of: PlainExpression): PlainExpression
export function optional(of: Expression): Expression
export function optional(of: Expression): Expression {
  return repeat(of, 0, 1)
}

/** A grammar out of one expression, with further rules that it names. */
export function grammarOf(
  start: Expression,
  rules: Record<string, Expression> = {},
  triggers?: readonly Trigger[],
): Grammar {
  const all = new Map<string, Expression>([["root", start], ...Object.entries(rules)])
  return triggers === undefined ? { start: "root", rules: all } : { start: "root", rules: all, triggers }
}

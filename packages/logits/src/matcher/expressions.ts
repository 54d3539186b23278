/** Grammar expressions as threads: sequences, choices, repetitions and rules become frames. */
import { memory } from "@toolwright/toolbox"
import { invertRanges } from "../automaton/ranges.ts"
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { finishDfa, withSurrogateCuts } from "../automaton/dfa.ts"
import { type Lexeme, literalLexeme } from "../lexeme/lexeme.ts"
import { stringLexeme } from "../lexeme/string-lexemes.ts"
import { dfaLanguage } from "../lexeme/text-language.ts"
import type { CodePointRange, Expression, Grammar } from "../grammar/rules.ts"
import { grammarError } from "../grammar/grammar-error.ts"
import type { Frame, FrameStore, Sink } from "./frames.ts"
import type { BoundGrounding } from "../grammar/bound-grounding.ts"
import type { Notation } from "../grammar/notation.ts"
import type { ValueType } from "../schema/types.ts"
import type { Captured, ValueWriter } from "./value-writer.ts"
import { createValueWriter } from "./values.ts"

/** Makes lexemes of whole values; comes from the machine, which runs them. */
export type Capture = (type: ValueType, notation: Notation, grounding: BoundGrounding | undefined) => Captured

/**
 * A grammar that is bound anew for each conversation keeps its expressions, and with them what tokens do to their
 * lexemes.
 */
const lexemeOf = memory.derived((_expression: Expression, make: () => Lexeme) => make())

export interface ExpressionWriter {
  /** Puts the beginnings of the start rule into the sink. */
  start(frame: Frame, sink: Sink): void
}

/**
 * @throws ToolwrightError `INVALID_GRAMMAR` where a rule is missing or a token terminal is used: a matcher reads bytes,
 *   and does not know which token they came from
 */
export function createExpressionWriter(grammar: Grammar, store: FrameStore, capture: Capture): ExpressionWriter {
  return new Expressions(grammar, store, capture)
}

/** The writer of one grammar, which its frames call back. */
class Expressions implements ExpressionWriter {
  readonly #grammar: Grammar
  readonly #store: FrameStore
  readonly #values: ValueWriter

  constructor(grammar: Grammar, store: FrameStore, capture: Capture) {
    this.#grammar = grammar
    this.#store = store
    this.#values = createValueWriter(
      store,
      (type, notation) => capture(type, notation, grammar.grounding),
      grammar.grounding,
    )
  }

  #ruleOf(name: string): Expression {
    const rule = this.#grammar.rules.get(name)
    if (rule === undefined) throw grammarError(`the grammar has no rule "${name}"`)
    return rule
  }

  #enter(expression: Expression, frame: Frame, sink: Sink): void {
    if (!sink.enter(`${this.#store.numberOf(expression)}@${frame.number}`)) return
    switch (expression.kind) {
      case "literal":
        if (expression.text === "") frame.after(0, sink)
        else
          sink.add(
            lexemeOf(expression, () => literalLexeme([expression.text])),
            frame,
          )
        return
      case "chars":
        if (expression.ranges.length > 0)
          sink.add(
            lexemeOf(expression, () => charsLexeme(expression.ranges)),
            frame,
          )
        return
      case "until":
        sink.add(
          lexemeOf(expression, () => stringLexeme({ kind: "bare", stop: expression.markers }, dfaLanguage(ANY_TEXT))),
          frame,
        )
        return
      case "rule":
        return this.#enter(this.#ruleOf(expression.name), frame, sink)
      case "choice":
        for (const option of expression.options) this.#enter(option, frame, sink)
        return
      case "sequence":
        return this.#enterPart(expression, 0, frame, sink)
      case "repeat":
        return this.#enterRepeat(expression, 0, frame, sink)
      case "value":
        return this.#values.value(expression.type, { notation: expression.notation, lead: false, frame }, sink)
      case "token":
        throw grammarError("token terminals are for llama.cpp; a matcher of bytes cannot follow them")
    }
  }

  #enterPart(expression: Extract<Expression, { kind: "sequence" }>, index: number, frame: Frame, sink: Sink): void {
    const part = expression.parts[index]
    if (part === undefined) return frame.after(0, sink)
    if (index === expression.parts.length - 1) return this.#enter(part, frame, sink)
    const key = `q${this.#store.numberOf(expression)},${index}`
    this.#enter(
      part,
      this.#store.frame(frame, key, (_, sink) => this.#enterPart(expression, index + 1, frame, sink)),
      sink,
    )
  }

  #enterRepeat(expression: Extract<Expression, { kind: "repeat" }>, count: number, frame: Frame, sink: Sink): void {
    const { of, min, max } = expression
    if (!sink.enter(`r${this.#store.numberOf(expression)},${count}@${frame.number}`)) return
    if (count >= min) frame.after(0, sink)
    if (max !== undefined && count >= max) return
    const next = max === undefined ? Math.min(count + 1, min) : count + 1
    const key = `r${this.#store.numberOf(expression)},${next}`
    this.#enter(
      of,
      this.#store.frame(frame, key, (_, sink) => this.#enterRepeat(expression, next, frame, sink)),
      sink,
    )
  }

  start(frame: Frame, sink: Sink): void {
    return this.#enter(this.#ruleOf(this.#grammar.start), frame, sink)
  }
}

/** One code point of the ranges, in UTF-8. */
function charsLexeme(ranges: readonly CodePointRange[]): Lexeme {
  const cuts = withSurrogateCuts(ranges.flatMap(([first, last]) => [first, last + 1])).filter((cut) => cut <= 0x10ffff)
  const outside = invertRanges(ranges)
  const classOf = cuts.map((cut) => (outside.some(([first, last]) => cut >= first && cut <= last) ? 0 : 1))
  const dfa = finishDfa({ start: 0, cuts, classOf, classes: 2, table: [-1, 1, -1, -1], accept: [false, true] })
  return stringLexeme({ kind: "bare", stop: [] }, dfaLanguage(dfa))
}

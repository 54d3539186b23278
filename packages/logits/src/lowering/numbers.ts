/** Numbers as plain expressions. Bounds and steps come out of the same automaton that the matcher runs. */
import { type Dfa, finishDfa } from "../automaton/dfa.ts"
import { numberLexeme } from "../lexeme/number-lexeme.ts"
import { type NumberSet, SchemaProblem } from "../schema/types.ts"
import { chars, choice, literal, optional, type PlainExpression, repeat, sequence } from "../grammar/rules.ts"
import { languageExpression } from "./languages.ts"
import type { RuleBook } from "./rule-book.ts"

const digit = chars([0x30, 0x39])
const MAX_STATES = 30_000
/** States of numbers with many digits cost more: so many digits are looked at in all. */
const MAX_DIGITS = 1_200_000
/** Whole numbers as models write them have at most this many digits, fractions too: text without end is no number. */
const MOST_DIGITS = 15

export function numberExpression(
  sets: readonly NumberSet[],
  book: RuleBook,
  key: string,
  name: string,
): PlainExpression {
  const only = sets.length === 1 ? sets[0]! : undefined
  if (only !== undefined && only.low === undefined && only.high === undefined && only.notSteps.length === 0) {
    if (only.step === undefined) return book.define("number", "number", anyNumber)
    if (only.step.digits === 1n && only.step.scale === 0) return book.define("integer", "integer", integer)
  }
  const dfa = automatonOf(sets, book)
  return languageExpression(
    dfa,
    { id: "number", text: (text) => text, chars: (ranges) => chars(...ranges) },
    book,
    key,
    `${name}-number`,
  )
}

function integer(): PlainExpression {
  return sequence(
    optional(literal("-")),
    choice(literal("0"), sequence(chars([0x31, 0x39]), repeat(digit, 0, MOST_DIGITS - 1))),
  )
}

function anyNumber(): PlainExpression {
  const exponent = sequence(
    chars([0x45, 0x45], [0x65, 0x65]),
    optional(chars([0x2b, 0x2b], [0x2d, 0x2d])),
    repeat(digit, 1, 3),
  )
  return sequence(integer(), optional(sequence(literal("."), repeat(digit, 1, MOST_DIGITS))), optional(exponent))
}

/** How many digits the longest bound or step of a set has. */
function widthOf({ low, high, step, notSteps }: NumberSet): number {
  const numbers = [low?.value, high?.value, step, ...notSteps]
  return Math.max(
    1,
    ...numbers.map((one) => (one === undefined ? 0 : Math.max(one.digits.toString().length, one.scale))),
  )
}

/** The lexeme, state by state, as an automaton over characters. */
function automatonOf(sets: readonly NumberSet[], book: RuleBook): Dfa {
  const lexeme = numberLexeme(sets, true)
  const numbers = new Map([[lexeme.start, 0]])
  const order = [lexeme.start]
  const alphabet = Array.from({ length: 15 }, (_, index) => 0x2b + index)
  const table: number[] = []
  const most = Math.min(MAX_STATES, MAX_DIGITS / Math.max(...sets.map(widthOf)))
  for (let index = 0; index < order.length; index++) {
    if (order.length > most) throw new SchemaProblem("the bounds of a number need too many rules")
    book.spend(alphabet.length)
    table.push(-1)
    for (const byte of alphabet) {
      const next = lexeme.next(order[index]!, byte)
      if (next >= 0 && !numbers.has(next)) numbers.set(next, order.push(next) - 1)
      table.push(next < 0 ? -1 : numbers.get(next)!)
    }
  }
  const cuts = [0, ...alphabet, 0x39 + 1]
  const classOf = cuts.map((_, index) => (index === 0 || index > alphabet.length ? 0 : index))
  return finishDfa({
    start: 0,
    cuts,
    classOf,
    classes: alphabet.length + 1,
    table,
    accept: order.map((state) => lexeme.outcome(state) >= 0),
  })
}

/** What arrays and objects are lowered with. */
import type { Kinds } from "../plan/kinds.ts"
import type { NumberSet, ValueType } from "../schema/types.ts"
import type { Notation } from "../grammar/notation.ts"
import type { PlainExpression } from "../grammar/rules.ts"
import type { HoleMaker } from "./holes.ts"
import type { RuleBook } from "./rule-book.ts"

export interface ValueLowering {
  readonly book: RuleBook
  readonly holes: HoleMaker
  /** The rule of a type. */
  value(type: ValueType, notation: Notation, kinds?: Kinds): PlainExpression
  /** Numbers of any of the sets: the same sets are worked out once, wherever they stand. */
  numbers(sets: readonly NumberSet[], name: string): PlainExpression
  /** White space where the notation has any. */
  space(notation: Notation): readonly PlainExpression[]
  /** A number for an object, by the order in which it was met. */
  numberOf(object: object): number
}

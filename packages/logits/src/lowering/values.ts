/**
 * Values of a type in a notation, as plain expressions. Objects have their keys in the order in which the schema
 * declares them.
 */
import type { ArrayPlan, Progress as ArrayProgress } from "../plan/array-plan.ts"
import { canClose as canCloseArray, noItems, planOf as planOfArray, steps } from "../plan/array-plan.ts"
import type { Kinds } from "../plan/kinds.ts"
import {
  type ArraySet,
  type NumberSet,
  SchemaProblem,
  type StringSet,
  type TypeAlgebra,
  type ValueType,
} from "../schema/types.ts"
import type { Notation } from "../grammar/notation.ts"
import { choice, literal, type PlainExpression, repeat, rule, sequence } from "../grammar/rules.ts"
import type { HoleMaker } from "./holes.ts"
import { numberExpression } from "./numbers.ts"
import { objectExpression } from "./objects.ts"
import type { RuleBook } from "./rule-book.ts"
import { stringExpression } from "./strings.ts"
import type { ValueLowering } from "./value-lowering.ts"

export function createValueLowering(book: RuleBook, whiteSpace: string, holes: HoleMaker): ValueLowering {
  const numbers = new Map<object, number>()
  const numeric = new Map<string, PlainExpression>()
  const lowering: ValueLowering = {
    book,
    holes,
    space: (notation) => (notation.whitespace === "json" ? [rule(whiteSpace)] : []),
    numberOf(object) {
      let number = numbers.get(object)
      if (number === undefined) numbers.set(object, (number = numbers.size))
      return number
    },
    numbers(sets, name) {
      const key = `number;${JSON.stringify(sets, bigText)}`
      let known = numeric.get(key)
      if (known === undefined)
        numeric.set(key, (known = book.as("number", () => numberExpression(sets, book, key, name))))
      return known
    },
    value(type, notation, kinds = "all") {
      const suffix = `${notation.id.endsWith("json") ? "" : `-${notation.id}`}${kinds === "all" ? "" : `-${kinds}`}`
      const key = `type;${lowering.numberOf(type)};${lowering.numberOf(notation)};${kinds}`
      return book.define(key, `${type.name}${suffix}`, () => alternatives(type, notation, kinds, lowering))
    },
  }
  return lowering
}

function alternatives(type: ValueType, notation: Notation, kinds: Kinds, lowering: ValueLowering): PlainExpression {
  const { algebra } = type
  const shape = algebra.livingShape(type)
  const { book, numberOf } = lowering
  const options: PlainExpression[] = []
  const withStrings = kinds !== "others"
  const withOthers = kinds !== "strings"
  if (withStrings) {
    for (const set of shape.strings)
      options.push(
        book.as("string", () =>
          stringExpression(set, notation.string, { book, key: keyOf(set, numberOf), name: type.name }, lowering.holes),
        ),
      )
  }
  if (withOthers) {
    const free: NumberSet[] = []
    for (const set of shape.numbers) {
      const hole = lowering.holes.number(set)
      if (hole === undefined) free.push(set)
      else options.push(hole)
    }
    if (free.length > 0) options.push(lowering.numbers(free, type.name))
    if (shape.true) options.push(literal(notation.true))
    if (shape.false) options.push(literal(notation.false))
    if (shape.null) options.push(literal(notation.null))
    for (const set of shape.arrays)
      options.push(book.as("array", () => arrayExpression(set, algebra, notation, type.name, lowering)))
    for (const set of shape.objects)
      options.push(book.as("object", () => objectExpression(set, algebra, notation, type.name, lowering)))
  }
  return choice(...options)
}

/** The same for texts of the same language and lengths, whatever property they stand in. */
function keyOf({ language, min, max }: StringSet, numberOf: ValueLowering["numberOf"]): string {
  return `string;${numberOf(language)};${min};${max}`
}

const bigText = (_key: string, value: unknown): unknown => (typeof value === "bigint" ? String(value) : value)

function arrayExpression(
  set: ArraySet,
  algebra: TypeAlgebra,
  notation: Notation,
  name: string,
  lowering: ValueLowering,
): PlainExpression {
  const plan = planOfArray(set, algebra)
  const { open, close } = notation.array
  const space = lowering.space(notation)
  if (plan.unique.kind === "compare") throw new SchemaProblem("uniqueItems over endlessly many values")
  const inside =
    set.contains.length === 0 && plan.unique.kind === "no"
      ? countedItems(plan, notation, lowering)
      : steppedItems(plan, noItems(plan), true, { notation, name, lowering })
  return sequence(literal(open), ...space, inside, literal(close))
}

/** `prefix` and then so and so many of the rest. Ends in white space, so that the closing bracket can follow. */
function countedItems({ set, most }: ArrayPlan, notation: Notation, lowering: ValueLowering): PlainExpression {
  const space = lowering.space(notation)
  const item = (type: ValueType, at: string): PlainExpression =>
    sequence(
      lowering.book.within(at, () => lowering.value(type, notation.nested ?? notation)),
      ...space,
    )
  const separated = (type: ValueType, at: string): PlainExpression =>
    sequence(literal(notation.array.separator), ...space, item(type, at))
  const from = (index: number): PlainExpression => {
    if (index >= most) return literal("")
    if (index < set.prefix.length) {
      const here = sequence(
        (index === 0 ? item : separated)(set.prefix[index]!, `/prefixItems/${index}`),
        from(index + 1),
      )
      return index < set.min ? here : choice(here, literal(""))
    }
    const [min, max] = [Math.max(0, set.min - index), most === Infinity ? undefined : most - index]
    if (index > 0) return repeat(separated(set.rest, "/items"), min, max)
    const some = sequence(
      item(set.rest, "/items"),
      repeat(separated(set.rest, "/items"), Math.max(0, min - 1), max === undefined ? undefined : max - 1),
    )
    return min === 0 ? choice(some, literal("")) : some
  }
  return from(0)
}

/** What an item among many costs until it is written, in steps of the book. */
const OPTION_STEPS = 20

/** An array whose progress is told by rules. */
interface Stepping {
  readonly notation: Notation
  readonly name: string
  readonly lowering: ValueLowering
}

/** Rules for every progress that an array can make. */
function steppedItems(plan: ArrayPlan, progress: ArrayProgress, first: boolean, stepping: Stepping): PlainExpression {
  const { notation, name, lowering } = stepping
  const space = lowering.space(notation)
  const reached = `${progress.index},${progress.counts.join()},${progress.used}`
  const id = `${lowering.numberOf(plan)};${lowering.numberOf(notation)};${reached}`
  return lowering.book.define(`items;${id}`, `${name}-items`, () => {
    const next = steps(plan, progress)
    lowering.book.spend(OPTION_STEPS * next.length)
    const options = next.map(({ type, next }) => {
      const separator = first ? [] : [literal(notation.array.separator), ...space]
      return sequence(
        ...separator,
        lowering.book.within("/items", () => lowering.value(type, notation.nested ?? notation)),
        ...space,
        steppedItems(plan, clipIndex(plan, next), false, stepping),
      )
    })
    return choice(...options, ...(canCloseArray(plan, progress) ? [literal("")] : []))
  })
}

/** Past all bounds the index has no more to say. */
function clipIndex({ set, most }: ArrayPlan, progress: ArrayProgress): ArrayProgress {
  if (most < Infinity) return progress
  const enough = Math.max(set.min, set.prefix.length, ...set.contains.map(({ from }) => from), 1)
  return { ...progress, index: Math.min(progress.index, enough) }
}

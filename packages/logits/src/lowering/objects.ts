/** Objects as plain expressions, keys in declared order. */
import { ANY_TEXT, complementDfa, dfaOfTexts } from "../automaton/dfa-algebra.ts"
import {
  canClose,
  isOpenName,
  NO_KEYS,
  type ObjectPlan,
  openKeys,
  planOf,
  type Progress,
  waysToMeet,
  withKey,
} from "../plan/object-plan.ts"
import type { Kinds } from "../plan/kinds.ts"
import { escapePointer } from "../schema/json-schema.ts"
import type { ObjectSet, TypeAlgebra } from "../schema/types.ts"
import type { Notation } from "../grammar/notation.ts"
import { choice, literal, type PlainExpression, repeat, sequence } from "../grammar/rules.ts"
import { stringExpression } from "./strings.ts"
import type { ValueLowering } from "./value-lowering.ts"

interface Lowered {
  readonly plan: ObjectPlan
  readonly notation: Notation
  readonly name: string
  readonly lowering: ValueLowering
}

export function objectExpression(
  set: ObjectSet,
  algebra: TypeAlgebra,
  notation: Notation,
  name: string,
  lowering: ValueLowering,
): PlainExpression {
  const plan = planOf(set, algebra)
  const { open, close } = notation.object
  const object: Lowered = { plan, notation, name, lowering }
  return sequence(literal(open), ...lowering.space(notation), members(object, 0, NO_KEYS), literal(close))
}

/** What may follow when the names before `index` are done with. Each ends in white space. */
function members(object: Lowered, index: number, progress: Progress): PlainExpression {
  const { plan, lowering, notation, name } = object
  if (index >= plan.names.length) return others(object, progress)
  lowering.book.spend(plan.set.implies.length + plan.demands.length === 0 ? 10 : 10 + plan.names.length)
  const possible = isOpenName(plan, index, progress)
  const skippable = canStillEnd(plan, index, progress)
  if (!possible) return skippable ? members(object, index + 1, progress) : choice()
  const taken = (): PlainExpression[] =>
    waysToMeet(plan, index, progress).map((chosen) => {
      const next = withKey(plan, index, progress, undefined, chosen)
      return sequence(
        ...separator(object, progress),
        pair(object, index, chosen),
        members(object, index + 1, forget(object, index + 1, next)),
      )
    })
  if (!skippable) return choice(...taken())
  const key = `members;${lowering.numberOf(plan)};${lowering.numberOf(notation)};${index};${stateKey(progress)}`
  return lowering.book.define(key, `${name}-${isEmpty(progress) ? "first" : "more"}-${index}`, () =>
    choice(...taken(), members(object, index + 1, forget(object, index + 1, progress))),
  )
}

/** Whether name `index` may be left out. */
function canStillEnd({ required, closure, names, set }: ObjectPlan, index: number, { seen }: Progress): boolean {
  const bit = 1n << BigInt(index)
  if (required & bit) return false
  if (set.implies.length === 0) return true
  return !names.some((_, other) => (seen >> BigInt(other)) & 1n && closure[other]! & bit)
}

/** Names that nothing asks about any more are all alike: forgetting which of them are there keeps the rules few. */
function forget({ plan }: Lowered, index: number, progress: Progress): Progress {
  const { set, required } = plan
  if (set.implies.length > 0 || plan.demands.length > 0) return progress
  const counts = set.max < Infinity || set.min > 0
  if (counts) return progress
  const past = (1n << BigInt(index)) - 1n
  return { ...progress, seen: progress.seen === 0n ? 0n : (required & past) | past }
}

const isEmpty = ({ seen, others }: Progress): boolean => seen === 0n && others === 0
const stateKey = ({ seen, others, met }: Progress): string => `${seen},${others},${met}`

function separator({ notation, lowering }: Lowered, progress: Progress): PlainExpression[] {
  return isEmpty(progress) || notation.object.separator === ""
    ? []
    : [literal(notation.object.separator), ...lowering.space(notation)]
}

/** One key and its value. */
function pair(object: Lowered, index: number, chosen: number): PlainExpression {
  const { plan, notation, lowering } = object
  const space = lowering.space(notation)
  const { beforeKey, afterKey, afterValue } = notation.object
  const type = plan.demandTypes(index, chosen)
  const inner = notation.nested ?? notation
  const end = afterValue === "" ? space : [...space, literal(afterValue), ...space]
  const key = [literal(beforeKey), keyExpression(object, index), ...space]
  if (typeof afterKey === "string")
    return sequence(
      ...key,
      literal(afterKey),
      ...space,
      below(object, index, () => lowering.value(type, inner)),
      ...end,
    )
  const shape = type.algebra.livingShape(type)
  const valueOf = (kinds: Kinds): PlainExpression => below(object, index, () => lowering.value(type, inner, kinds))
  const strings = sequence(literal(afterKey.string), ...space, valueOf("strings"))
  const rest = sequence(literal(afterKey.other), ...space, valueOf("others"))
  const onlyStrings =
    !shape.null &&
    !shape.true &&
    !shape.false &&
    shape.numbers.length + shape.arrays.length + shape.objects.length === 0
  const marked = shape.strings.length === 0 ? [rest] : onlyStrings ? [strings] : [strings, rest]
  return sequence(...key, choice(...marked), ...end)
}

/** What is written for the value of a key, as the schema reaches it. */
function below({ plan, lowering }: Lowered, index: number, run: () => PlainExpression): PlainExpression {
  const name = plan.names[index]
  const segment = name === undefined ? "/additionalProperties" : `/properties/${escapePointer(name)}`
  return lowering.book.within(segment, run)
}

function keyExpression({ plan, notation, lowering, name }: Lowered, index: number): PlainExpression {
  const style = notation.object.key
  if (index < plan.names.length) {
    const exact = { language: dfaOfTexts([plan.names[index]!]), min: 0, max: Infinity }
    return stringExpression(exact, style, {
      book: lowering.book,
      key: `key;${lowering.numberOf(plan)};${index}`,
      name,
    })
  }
  const other = index - plan.names.length
  const region = plan.otherLanguages[other]!
  const language = region === ANY_TEXT && plan.names.length > 0 ? complementDfa(dfaOfTexts(plan.names)) : region
  const key = `other;${lowering.numberOf(region)};${region === ANY_TEXT ? plan.names.toSorted().join("\n") : ""}`
  return stringExpression({ language, min: 0, max: Infinity }, style, { book: lowering.book, key, name: `${name}-key` })
}

/** Rules cannot tell whether two further keys are the same: without a limit, a second one has no more to say. */
function clipOthers({ set }: ObjectPlan, progress: Progress): Progress {
  return set.max < Infinity ? progress : { ...progress, others: Math.min(progress.others, 1) }
}

/** Keys beyond the declared names. */
function others(object: Lowered, progress: Progress): PlainExpression {
  const { plan, lowering, notation, name } = object
  const end = canClose(plan, progress)
  const open = openKeys(plan, progress).others
  const possible = open.flatMap((yes, index) => (yes ? [plan.names.length + index] : []))
  if (possible.length === 0) return end ? literal("") : choice()
  const simple = plan.set.max === Infinity && plan.demands.length === 0 && !plan.keepsKeys && (end || plan.set.min <= 1)
  if (simple) {
    const any = choice(...possible.map((index) => pair(object, index, 0)))
    const more = sequence(
      literal(notation.object.separator),
      ...(notation.object.separator === "" ? [] : lowering.space(notation)),
      any,
    )
    if (!isEmpty(progress)) return repeat(more, 0)
    const some = sequence(any, repeat(more, 0))
    return end ? choice(some, literal("")) : some
  }
  const key = `others;${lowering.numberOf(plan)};${lowering.numberOf(notation)};${stateKey(progress)}`
  return lowering.book.define(key, `${name}-others`, () => {
    const options = possible.flatMap((index) =>
      waysToMeet(plan, index, progress).map((chosen) =>
        sequence(
          ...separator(object, progress),
          pair(object, index, chosen),
          others(object, clipOthers(plan, withKey(plan, index, progress, undefined, chosen))),
        ),
      ),
    )
    return choice(...options, ...(end ? [literal("")] : []))
  })
}

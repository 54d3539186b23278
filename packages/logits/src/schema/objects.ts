/** Sets of objects: what each key may hold, meet, complement, and whether any object remains. */
import { matchesDfa } from "../automaton/dfa.ts"
import { type KeyClasses, classifyKeys } from "./key-classes.ts"
import { haveCommonText } from "../automaton/dfa-algebra.ts"
import { meetNumbers } from "./numbers.ts"
import {
  ANY_OBJECT,
  type KeyRule,
  type KeySet,
  type ObjectSet,
  SchemaProblem,
  type Shape,
  type TypeAlgebra,
  type ValueType,
} from "./types.ts"

export function keySetHas(keys: KeySet, name: string): boolean {
  switch (keys.kind) {
    case "name":
      return keys.name === name
    case "pattern":
      return matchesDfa(keys.language, name)
    case "rest":
      return !keys.names.includes(name) && !keys.patterns.some((language) => matchesDfa(language, name))
  }
}

/** The type of the value under a key. */
export function typeOfKey(set: ObjectSet, name: string, algebra: TypeAlgebra): ValueType {
  let type = algebra.any
  for (const rule of set.rules) if (keySetHas(rule.keys, name)) type = algebra.intersect(type, rule.type)
  return type
}

export function meetObjects(a: ObjectSet, b: ObjectSet): ObjectSet {
  if (a === ANY_OBJECT) return b
  if (b === ANY_OBJECT) return a
  return {
    names: joined(a.names, b.names),
    rules: joinedRules(a.rules, b.rules),
    required: joined(a.required, b.required),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    implies: joined(a.implies, b.implies),
    some: joinedRules(a.some, b.some),
  }
}

/** Lists as short as these are looked through faster than a set is made. */
const SHORT = 16

/** What is in either list, once. Objects meet in every combination of alternatives, mostly with little in them. */
function joined<Item>(a: readonly Item[], b: readonly Item[]): readonly Item[] {
  if (b.length === 0) return a
  if (a.length === 0) return b
  if (a.length + b.length > SHORT) return [...new Set([...a, ...b])]
  const result = [...a]
  for (const item of b) if (!a.includes(item)) result.push(item)
  return result
}

function joinedRules(a: readonly KeyRule[], b: readonly KeyRule[]): readonly KeyRule[] {
  if (b.length === 0) return a
  if (a.length === 0) return b
  return [...a, ...b.filter((rule) => !a.some((other) => sameRule(rule, other)))]
}

function sameRule(a: KeyRule, b: KeyRule): boolean {
  if (a.type !== b.type) return false
  if (a.keys === b.keys) return true
  if (a.keys.kind === "name" && b.keys.kind === "name") return a.keys.name === b.keys.name
  return a.keys.kind === "pattern" && b.keys.kind === "pattern" && a.keys.language === b.keys.language
}

/**
 * Whether a key that one of the sets requires has simple values in each, and none in common: the mark by which schemas
 * tell kinds of objects apart. Looks at what is known already and makes no types.
 */
export function clash(a: ObjectSet, b: ObjectSet, shapeOf: (type: ValueType) => Shape | undefined): boolean {
  if (a.rules.length === 0 || b.rules.length === 0) return false
  const clashAt = (name: string): boolean => {
    const [x, y] = [ruleOf(a, name), ruleOf(b, name)]
    if (x === undefined || y === undefined) return false
    const [left, right] = [shapeOf(x.type), shapeOf(y.type)]
    return left !== undefined && right !== undefined && haveNothingInCommon(left, right)
  }
  return a.required.some(clashAt) || b.required.some(clashAt)
}

const ruleOf = ({ rules }: ObjectSet, name: string): KeyRule | undefined =>
  rules.find(({ keys }) => keys.kind === "name" && keys.name === name)

function haveNothingInCommon(a: Shape, b: Shape): boolean {
  if ((a.null && b.null) || (a.true && b.true) || (a.false && b.false)) return false
  if ((a.arrays.length > 0 && b.arrays.length > 0) || (a.objects.length > 0 && b.objects.length > 0)) return false
  if (a.numbers.length * b.numbers.length + a.strings.length * b.strings.length > 100) return false
  return (
    !a.numbers.some((one) => b.numbers.some((other) => meetNumbers(one, other) !== undefined)) &&
    !a.strings.some((one) =>
      b.strings.some(
        (other) => one.min <= other.max && other.min <= one.max && haveCommonText(one.language, other.language),
      ),
    )
  )
}

/** Objects that are not in the set, as a union. */
export function complementObjects(set: ObjectSet, algebra: TypeAlgebra): ObjectSet[] {
  const result: ObjectSet[] = []
  const forbid = (name: string): KeyRule => ({ keys: { kind: "name", name }, type: algebra.never })
  for (const name of set.required) result.push({ ...ANY_OBJECT, names: [name], rules: [forbid(name)] })
  if (set.min > 0) result.push({ ...ANY_OBJECT, max: set.min - 1 })
  if (set.max < Infinity) result.push({ ...ANY_OBJECT, min: set.max + 1 })
  for (const [name, others] of set.implies) {
    for (const other of others) {
      result.push({ ...ANY_OBJECT, names: [name, other], required: [name], rules: [forbid(other)] })
    }
  }
  for (const { keys, type } of set.rules) {
    const not = algebra.complement(type)
    if (not === algebra.never) continue
    if (keys.kind === "name")
      result.push({ ...ANY_OBJECT, names: [keys.name], required: [keys.name], rules: [{ keys, type: not }] })
    else result.push({ ...ANY_OBJECT, some: [{ keys, type: not }] })
  }
  for (const { keys, type } of set.some)
    result.push({ ...ANY_OBJECT, rules: [{ keys, type: algebra.complement(type) }] })
  return result
}

/** The names that must be present: the required ones, and those that they imply. */
export function closeNames(names: Iterable<string>, implies: ObjectSet["implies"]): Set<string> {
  const all = new Set(names)
  if (implies.length === 0) return all
  for (let size = -1; size !== all.size;) {
    size = all.size
    for (const [name, others] of implies) if (all.has(name)) for (const other of others) all.add(other)
  }
  return all
}

/** What `inhabited` needs to know of an object set: the types that must have values, and the rest decided by `test`. */
export function requiredTypes(set: ObjectSet, algebra: TypeAlgebra): ValueType[] {
  return [...closeNames(set.required, set.implies)].map((name) => typeOfKey(set, name, algebra))
}

/**
 * Whether there is an object in the set, given which types have values.
 *
 * @throws SchemaProblem where the set mixes demands that the matcher cannot weigh against each other
 */
export function hasObjects(set: ObjectSet, algebra: TypeAlgebra, inhabited: (type: ValueType) => boolean): boolean {
  const required = closeNames(set.required, set.implies)
  if (required.size > set.max || set.min > set.max) return false
  for (const name of required) if (!inhabited(typeOfKey(set, name, algebra))) return false
  if (set.min === 0 && set.some.length === 0) return true
  if (set.some.length > 0 && set.max < Infinity)
    throw new SchemaProblem("maxProperties together with a demand for some key out of many")
  const classes = classifyKeys(set, algebra)
  for (const demand of set.some) if (!candidates(demand, classes, algebra).some((type) => inhabited(type))) return false
  if (set.min <= required.size) return true
  if (set.implies.length > 0 && set.max < Infinity)
    throw new SchemaProblem("minProperties and maxProperties together with dependent keys")
  if (classes.others.some(({ type, finite }) => !finite && inhabited(type))) return true
  const named = classes.named.filter(({ type }) => inhabited(type)).length
  const finite = classes.others
    .filter(({ type }) => inhabited(type))
    .reduce((sum, { finite }) => sum + (finite ?? 0), 0)
  return named + finite >= set.min
}

/** The types that a value has to have in each class of keys, to satisfy the demand there. */
export function candidates(demand: KeyRule, classes: KeyClasses, algebra: TypeAlgebra): ValueType[] {
  return [
    ...classes.named.filter(({ name }) => keySetHas(demand.keys, name)),
    ...classes.others.filter(({ has }) => has(demand.keys)),
  ].map(({ type }) => algebra.intersect(type, demand.type))
}

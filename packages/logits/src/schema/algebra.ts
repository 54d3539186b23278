/**
 * Meet, complement and emptiness over whole types, worked out lazily and once. A meet is known by the set of types it
 * is made of, so recursive schemas give finitely many meets.
 */
import { anyArray, complementArrays, hasArrays, meetArrays } from "./arrays.ts"
import { type Effort, unitsOfObjects, unitsOfStrings } from "./effort.ts"
import { complementNumbers, hasNumbers, meetNumbers } from "./numbers.ts"
import { clash, complementObjects, hasObjects, meetObjects, requiredTypes } from "./objects.ts"
import { ANY_STRING, complementStrings, hasStrings, meetStrings } from "./strings.ts"
import {
  ANY_NUMBER,
  ANY_OBJECT,
  type ArraySet,
  NOTHING,
  type NumberSet,
  type ObjectSet,
  SchemaProblem,
  type Shape,
  type StringSet,
  type TypeAlgebra,
  type ValueType,
} from "./types.ts"

/** More alternatives than this in one union are refused. */
const MAX_ALTERNATIVES = 2_000
const MAX_PRODUCT = 250_000
const MAX_TYPES = 60_000
/** How deep required keys are looked into when a union is trimmed of what is surely empty. */
const TRIM_DEPTH = 4

/** Thrown where working out a type needs that same type. */
class SelfReference extends SchemaProblem {}

export interface Algebra extends TypeAlgebra {
  /** Members of both unions. */
  meet(a: Shape, b: Shape): Shape
  unite(shapes: readonly Shape[]): Shape
  /** Members of the first union that are not of the second. */
  subtract(from: Shape, what: Shape): Shape
}

/** @param effort counts what is worked out */
export function createAlgebra({ spend }: Effort): Algebra {
  let order = 0
  const meets = new Map<string, ValueType>()
  const complements = new Map<ValueType, ValueType>()
  const values = new Map<ValueType, boolean>()
  const living = new Map<ValueType, Shape>()
  const resolving = new Set<ValueType>()

  function make(name: string, parts: readonly ValueType[] | undefined, compute: () => Shape): ValueType {
    spend(2 + (parts?.length ?? 0))
    if (order > MAX_TYPES) throw new SchemaProblem("the schema needs too many types")
    let shape: Shape | undefined
    const type: ValueType = {
      name,
      order: order++,
      algebra,
      parts: [],
      shape() {
        if (shape !== undefined) return shape
        if (resolving.has(type)) throw new SelfReference("the schema refers to itself before it describes any value")
        resolving.add(type)
        try {
          return (shape = compute())
        } finally {
          resolving.delete(type)
        }
      },
    }
    return Object.assign(type, { parts: parts ?? [type] })
  }

  function intersect(a: ValueType, b: ValueType): ValueType {
    if (a === b || b === any) return a
    if (a === any) return b
    if (a === never || b === never) return never
    const parts = [...new Set([...a.parts, ...b.parts])].toSorted((x, y) => x.order - y.order)
    if (parts.length === 1) return parts[0]!
    if (parts.some((part) => parts.includes(complements.get(part) ?? any))) return never
    const key = parts.map((part) => part.order).join()
    let type = meets.get(key)
    if (type === undefined) {
      type = make(parts[0]!.name, parts, () => parts.map((part) => part.shape()).reduce(meet))
      meets.set(key, type)
    }
    return type
  }

  function complement(type: ValueType): ValueType {
    if (type === any) return never
    if (type === never) return any
    let result = complements.get(type)
    if (result === undefined) {
      result = make(`not-${type.name}`, undefined, () => subtract(ANYTHING, type.shape()))
      complements.set(type, result)
      complements.set(result, type)
    }
    return result
  }

  function meet(a: Shape, b: Shape): Shape {
    if (a === ANYTHING) return b
    if (b === ANYTHING) return a
    return {
      null: a.null && b.null,
      true: a.true && b.true,
      false: a.false && b.false,
      numbers: pairs(a.numbers, b.numbers, meetNumberSets),
      strings: pairs(a.strings, b.strings, meetStringSets),
      arrays: pairs(a.arrays, b.arrays, meetArraySets),
      objects: pairs(a.objects, b.objects, meetObjectSets),
    }
  }

  function meetNumberSets(x: NumberSet, y: NumberSet): NumberSet | undefined {
    spend(2 + x.notSteps.length * y.notSteps.length)
    return meetNumbers(x, y)
  }

  function meetStringSets(x: StringSet, y: StringSet): StringSet | undefined {
    const set = meetStrings(x, y)
    spend(unitsOfStrings(x, y, set?.language))
    return set
  }

  function meetArraySets(x: ArraySet, y: ArraySet): ArraySet | undefined {
    spend(1 + x.prefix.length + y.prefix.length)
    const set = meetArrays(x, y, algebra)
    return set.prefix.some((type, index) => index < set.min && surelyEmpty(type, TRIM_DEPTH)) || set.min > set.max
      ? undefined
      : set
  }

  /** What a type is made of, where that is known or soon worked out. */
  function shapeNow(type: ValueType): Shape | undefined {
    if (resolving.has(type)) return undefined
    try {
      return type.shape()
    } catch (problem) {
      if (problem instanceof SelfReference) return undefined
      throw problem
    }
  }

  function meetObjectSets(x: ObjectSet, y: ObjectSet): ObjectSet | undefined {
    spend(unitsOfObjects(x, y))
    if (x !== y && clash(x, y, shapeNow)) return undefined
    const set = meetObjects(x, y)
    if (set === x || set === y) return set
    return set.min > set.max || requiredTypes(set, algebra).some((type) => surelyEmpty(type, TRIM_DEPTH))
      ? undefined
      : set
  }

  /** What of `from` is not of the other union. Members that have nothing in common with it stay as they are. */
  function subtract(from: Shape, what: Shape): Shape {
    const rest = (sets: number): void => {
      if (sets > MAX_ALTERNATIVES) throw new SchemaProblem("too many alternatives")
    }
    const without = <Set>(
      sets: readonly Set[],
      others: readonly Set[],
      meet: (a: Set, b: Set) => Set | undefined,
      complement: (set: Set) => Set[],
    ): readonly Set[] =>
      others.reduce<readonly Set[]>((left, other) => {
        const opposite = left.length === 0 ? [] : complement(other)
        const result = left.flatMap((set) =>
          meet(set, other) === undefined ? [set] : opposite.flatMap((part) => meet(set, part) ?? []),
        )
        rest(result.length)
        return result
      }, sets)
    return {
      null: from.null && !what.null,
      true: from.true && !what.true,
      false: from.false && !what.false,
      numbers: without(from.numbers, what.numbers, meetNumberSets, complementNumbers),
      strings: without(from.strings, what.strings, meetStringSets, complementStrings),
      arrays: without(from.arrays, what.arrays, meetArraySets, (set) => complementArrays(set, algebra)),
      objects: without(from.objects, what.objects, meetObjectSets, (set) => complementObjects(set, algebra)),
    }
  }

  /** True only where it is certain and soon found out. */
  function surelyEmpty(type: ValueType, depth: number): boolean {
    if (type === never) return true
    const shape = depth === 0 ? undefined : shapeNow(type)
    if (shape === undefined) return false
    if (shape.null || shape.true || shape.false || shape.numbers.some(hasNumbers) || shape.strings.some(hasStrings))
      return false
    return (
      shape.arrays.every((set) => set.prefix.some((item, index) => index < set.min && surelyEmpty(item, depth - 1))) &&
      shape.objects.every(
        (set) => set.min > set.max || requiredTypes(set, algebra).some((value) => surelyEmpty(value, depth - 1)),
      )
    )
  }

  /** The least fixed point: nothing has values until shown to. */
  function inhabited(type: ValueType): boolean {
    const certain = values.get(type)
    if (certain !== undefined) return certain
    const open = new Map<ValueType, boolean>([[type, false]])
    const ask = (other: ValueType): boolean => {
      const answer = values.get(other) ?? open.get(other)
      if (answer === undefined) open.set(other, false)
      return answer ?? false
    }
    for (let changed = true; changed;) {
      changed = false
      const before = open.size
      for (const [candidate, known] of [...open].toReversed()) {
        if (known || !hasValues(candidate, ask)) continue
        open.set(candidate, true)
        changed = true
      }
      changed ||= open.size > before
    }
    for (const [candidate, answer] of open) values.set(candidate, answer)
    return open.get(type)!
  }

  function hasValues(type: ValueType, ask: (type: ValueType) => boolean): boolean {
    const shape = type.shape()
    if (shape.null || shape.true || shape.false || shape.numbers.some(hasNumbers) || shape.strings.some(hasStrings))
      return true
    return (
      shape.arrays.some((set) => hasArrays(set, algebra, ask)) ||
      shape.objects.some((set) => hasObjects(set, algebra, ask))
    )
  }

  function livingShape(type: ValueType): Shape {
    let result = living.get(type)
    if (result === undefined) {
      const shape = type.shape()
      result = {
        ...flagsOf(shape),
        numbers: shape.numbers.filter(hasNumbers),
        strings: shape.strings.filter(hasStrings),
        arrays: shape.arrays.filter((set) => hasArrays(set, algebra, inhabited)),
        objects: shape.objects.filter((set) => hasObjects(set, algebra, inhabited)),
      }
      living.set(type, result)
    }
    return result
  }

  const unite = (shapes: readonly Shape[]): Shape => {
    if (shapes.length === 1) return shapes[0]!
    if (shapes.includes(ANYTHING)) return ANYTHING
    spend(
      shapes.reduce((sum, { objects, arrays, strings }) => sum + objects.length + arrays.length + strings.length, 0),
    )
    return {
      null: shapes.some((shape) => shape.null),
      true: shapes.some((shape) => shape.true),
      false: shapes.some((shape) => shape.false),
      numbers: all(
        shapes.flatMap((shape) => shape.numbers),
        ANY_NUMBER,
      ),
      strings: all(
        shapes.flatMap((shape) => shape.strings),
        ANY_STRING,
      ),
      arrays: all(
        shapes.flatMap((shape) => shape.arrays),
        ANYTHING.arrays[0]!,
      ),
      objects: all(
        shapes.flatMap((shape) => shape.objects),
        ANY_OBJECT,
      ),
    }
  }

  const algebra: Algebra = {
    spend,
    intersect,
    complement,
    inhabited,
    livingShape,
    meet,
    unite,
    subtract,
    define: (name, compute) => make(name, undefined, compute),
    get any() {
      return any
    },
    get never() {
      return never
    },
  }
  const any: ValueType = make("value", undefined, () => ANYTHING)
  const never: ValueType = make("never", undefined, () => NOTHING)
  const ANYTHING: Shape = {
    null: true,
    true: true,
    false: true,
    numbers: [ANY_NUMBER],
    strings: [ANY_STRING],
    arrays: [anyArray(algebra)],
    objects: [ANY_OBJECT],
  }
  return algebra
}

const flagsOf = (shape: Shape): Pick<Shape, "null" | "true" | "false"> => ({
  null: shape.null,
  true: shape.true,
  false: shape.false,
})

/** The members without repetitions; where one of them is everything, that one alone. */
function all<Set>(sets: readonly Set[], everything: Set): readonly Set[] {
  if (sets.length < 2) return sets
  return sets.includes(everything) ? [everything] : [...new Set(sets)]
}

function pairs<Set>(a: readonly Set[], b: readonly Set[], meet: (x: Set, y: Set) => Set | undefined): Set[] {
  if (a.length * b.length > MAX_PRODUCT) throw new SchemaProblem("too many combinations of alternatives")
  const result = a.flatMap((x) => b.flatMap((y) => meet(x, y) ?? []))
  if (result.length > Math.max(MAX_ALTERNATIVES, a.length, b.length)) throw new SchemaProblem("too many alternatives")
  return result
}

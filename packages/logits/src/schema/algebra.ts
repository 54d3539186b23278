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
export function createAlgebra(effort: Effort): Algebra {
  return new LazyAlgebra(effort)
}

/** The types of one schema, and what was worked out about them. */
class LazyAlgebra implements Algebra {
  readonly spend: Effort["spend"]
  readonly any: ValueType
  readonly never: ValueType
  #order = 0
  readonly #meets = new Map<string, ValueType>()
  readonly #complements = new Map<ValueType, ValueType>()
  readonly #values = new Map<ValueType, boolean>()
  readonly #living = new Map<ValueType, Shape>()
  readonly #resolving = new Set<ValueType>()
  /** Everything, as the one object by which it is recognised. */
  readonly #anything: Shape

  constructor({ spend }: Effort) {
    this.spend = spend
    this.any = this.#make("value", undefined, () => this.#anything)
    this.never = this.#make("never", undefined, () => NOTHING)
    this.#anything = {
      null: true,
      true: true,
      false: true,
      numbers: [ANY_NUMBER],
      strings: [ANY_STRING],
      arrays: [anyArray(this)],
      objects: [ANY_OBJECT],
    }
  }

  define(name: string, compute: () => Shape): ValueType {
    return this.#make(name, undefined, compute)
  }

  #make(name: string, parts: readonly ValueType[] | undefined, compute: () => Shape): ValueType {
    this.spend(2 + (parts?.length ?? 0))
    if (this.#order > MAX_TYPES) throw new SchemaProblem("the schema needs too many types")
    let shape: Shape | undefined
    const type: ValueType = {
      name,
      order: this.#order++,
      algebra: this,
      parts: [],
      shape: () => {
        if (shape !== undefined) return shape
        if (this.#resolving.has(type))
          throw new SelfReference("the schema refers to itself before it describes any value")
        this.#resolving.add(type)
        try {
          return (shape = compute())
        } finally {
          this.#resolving.delete(type)
        }
      },
    }
    return Object.assign(type, { parts: parts ?? [type] })
  }

  intersect(a: ValueType, b: ValueType): ValueType {
    if (a === b || b === this.any) return a
    if (a === this.any) return b
    if (a === this.never || b === this.never) return this.never
    const parts = [...new Set([...a.parts, ...b.parts])].toSorted((x, y) => x.order - y.order)
    if (parts.length === 1) return parts[0]!
    // Neither has a part together with its complement: else it would have been nothing itself.
    if (b.parts.some((part) => a.parts.includes(this.#complements.get(part) ?? this.any))) return this.never
    const key = parts.map((part) => part.order).join()
    let type = this.#meets.get(key)
    if (type === undefined) {
      type = this.#make(parts[0]!.name, parts, () =>
        parts.map((part) => part.shape()).reduce((a, b) => this.meet(a, b)),
      )
      this.#meets.set(key, type)
    }
    return type
  }

  complement(type: ValueType): ValueType {
    if (type === this.any) return this.never
    if (type === this.never) return this.any
    let result = this.#complements.get(type)
    if (result === undefined) {
      result = this.#make(`not-${type.name}`, undefined, () => this.subtract(this.#anything, type.shape()))
      this.#complements.set(type, result)
      this.#complements.set(result, type)
    }
    return result
  }

  meet(a: Shape, b: Shape): Shape {
    if (a === this.#anything) return b
    if (b === this.#anything) return a
    return {
      null: a.null && b.null,
      true: a.true && b.true,
      false: a.false && b.false,
      numbers: pairs(a.numbers, b.numbers, this.#meetNumberSets),
      strings: pairs(a.strings, b.strings, this.#meetStringSets),
      arrays: pairs(a.arrays, b.arrays, this.#meetArraySets),
      objects: pairs(a.objects, b.objects, this.#meetObjectSets),
    }
  }

  readonly #meetNumberSets = (x: NumberSet, y: NumberSet): NumberSet | undefined => {
    this.spend(2 + x.notSteps.length * y.notSteps.length)
    return meetNumbers(x, y)
  }

  readonly #meetStringSets = (x: StringSet, y: StringSet): StringSet | undefined => {
    const set = meetStrings(x, y)
    this.spend(unitsOfStrings(x, y, set?.language))
    return set
  }

  readonly #meetArraySets = (x: ArraySet, y: ArraySet): ArraySet | undefined => {
    this.spend(1 + x.prefix.length + y.prefix.length)
    const set = meetArrays(x, y, this)
    return set.prefix.some((type, index) => index < set.min && this.#surelyEmpty(type, TRIM_DEPTH)) || set.min > set.max
      ? undefined
      : set
  }

  /** What a type is made of, where that is known or soon worked out. */
  readonly #shapeNow = (type: ValueType): Shape | undefined => {
    if (this.#resolving.has(type)) return undefined
    try {
      return type.shape()
    } catch (problem) {
      if (problem instanceof SelfReference) return undefined
      throw problem
    }
  }

  readonly #meetObjectSets = (x: ObjectSet, y: ObjectSet): ObjectSet | undefined => {
    this.spend(unitsOfObjects(x, y))
    if (x !== y && clash(x, y, this.#shapeNow)) return undefined
    const set = meetObjects(x, y)
    if (set === x || set === y) return set
    return set.min > set.max || requiredTypes(set, this).some((type) => this.#surelyEmpty(type, TRIM_DEPTH))
      ? undefined
      : set
  }

  /** What of `from` is not of the other union. Members that have nothing in common with it stay as they are. */
  subtract(from: Shape, what: Shape): Shape {
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
        if (result.length > MAX_ALTERNATIVES) throw new SchemaProblem("too many alternatives")
        return result
      }, sets)
    return {
      null: from.null && !what.null,
      true: from.true && !what.true,
      false: from.false && !what.false,
      numbers: without(from.numbers, what.numbers, this.#meetNumberSets, complementNumbers),
      strings: without(from.strings, what.strings, this.#meetStringSets, complementStrings),
      arrays: without(from.arrays, what.arrays, this.#meetArraySets, (set) => complementArrays(set, this)),
      objects: without(from.objects, what.objects, this.#meetObjectSets, (set) => complementObjects(set, this)),
    }
  }

  /** True only where it is certain and soon found out. */
  #surelyEmpty(type: ValueType, depth: number): boolean {
    if (type === this.never) return true
    const shape = depth === 0 ? undefined : this.#shapeNow(type)
    if (shape === undefined) return false
    if (shape.null || shape.true || shape.false || shape.numbers.some(hasNumbers) || shape.strings.some(hasStrings))
      return false
    return (
      shape.arrays.every((set) =>
        set.prefix.some((item, index) => index < set.min && this.#surelyEmpty(item, depth - 1)),
      ) &&
      shape.objects.every(
        (set) => set.min > set.max || requiredTypes(set, this).some((value) => this.#surelyEmpty(value, depth - 1)),
      )
    )
  }

  /** The least fixed point: nothing has values until shown to. */
  readonly inhabited = (type: ValueType): boolean => {
    const certain = this.#values.get(type)
    if (certain !== undefined) return certain
    const open = new Map<ValueType, boolean>([[type, false]])
    const ask = (other: ValueType): boolean => {
      const answer = this.#values.get(other) ?? open.get(other)
      if (answer === undefined) open.set(other, false)
      return answer ?? false
    }
    for (let changed = true; changed;) {
      changed = false
      const before = open.size
      for (const [candidate, known] of [...open].toReversed()) {
        if (known || !this.#hasValues(candidate, ask)) continue
        open.set(candidate, true)
        changed = true
      }
      changed ||= open.size > before
    }
    for (const [candidate, answer] of open) this.#values.set(candidate, answer)
    return open.get(type)!
  }

  #hasValues(type: ValueType, ask: (type: ValueType) => boolean): boolean {
    const shape = type.shape()
    if (shape.null || shape.true || shape.false || shape.numbers.some(hasNumbers) || shape.strings.some(hasStrings))
      return true
    return (
      shape.arrays.some((set) => hasArrays(set, this, ask)) || shape.objects.some((set) => hasObjects(set, this, ask))
    )
  }

  livingShape(type: ValueType): Shape {
    let result = this.#living.get(type)
    if (result === undefined) {
      const shape = type.shape()
      result = {
        ...flagsOf(shape),
        numbers: shape.numbers.filter(hasNumbers),
        strings: shape.strings.filter(hasStrings),
        arrays: shape.arrays.filter((set) => hasArrays(set, this, this.inhabited)),
        objects: shape.objects.filter((set) => hasObjects(set, this, this.inhabited)),
      }
      this.#living.set(type, result)
    }
    return result
  }

  unite(shapes: readonly Shape[]): Shape {
    if (shapes.length === 1) return shapes[0]!
    if (shapes.includes(this.#anything)) return this.#anything
    this.spend(
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
        this.#anything.arrays[0]!,
      ),
      objects: all(
        shapes.flatMap((shape) => shape.objects),
        ANY_OBJECT,
      ),
    }
  }
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
  const result: Set[] = []
  for (const x of a)
    for (const y of b) {
      const both = meet(x, y)
      if (both !== undefined) result.push(both)
    }
  if (result.length > Math.max(MAX_ALTERNATIVES, a.length, b.length)) throw new SchemaProblem("too many alternatives")
  return result
}

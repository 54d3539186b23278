/** `uniqueItems`: how an array of different items can be followed without getting into a dead end. */
import { memory } from "@toolwright/toolbox"
import { itemType, longest } from "./arrays.ts"
import { type FiniteValue, finiteValues } from "./finite.ts"
import { classifyKeys } from "./key-classes.ts"
import { type ArraySet, SchemaProblem, type TypeAlgebra, type ValueType } from "./types.ts"

/**
 * `values`: the items are out of these few, each is taken at most once. `compare`: what has been taken is remembered
 * and left out of the next item's type. `no`: there is at most one item, or nobody asks.
 */
export type Uniqueness =
  | { readonly kind: "no" }
  | { readonly kind: "compare" }
  | { readonly kind: "values"; readonly values: readonly FiniteValue[] }

/** @throws SchemaProblem where it could not be told whether enough different items are left */
export const uniquenessOf = memory.derived(workOut)

function workOut(set: ArraySet, algebra: TypeAlgebra): Uniqueness {
  if (!set.unique) return { kind: "no" }
  const most = longest(set, (type) => algebra.inhabited(type))
  if (most <= 1) return { kind: "no" }
  const types = [...set.prefix.slice(0, most), ...(most > set.prefix.length ? [set.rest] : [])]
  const endless = (type: ValueType): boolean => isInfinite(type, algebra, new Set())
  const counted = set.contains.filter(({ min, max }) => min > 0 || max < Infinity)
  if (counted.length > 1 || counted.some(({ max }) => max < Infinity))
    throw new SchemaProblem("uniqueItems together with bounds on contains")
  const wanted = counted.flatMap((contains) => types.map((type) => algebra.intersect(type, contains.type)))
  // Where each place has endlessly many values nothing can run out, nor where the array may end at any time.
  if ([...types, ...wanted].every(endless) || (set.min <= 1 && counted.length === 0 && types.some(endless))) {
    if (types.some((type) => hasBoundedObjects(type, algebra, new Set())))
      throw new SchemaProblem("uniqueItems together with maxProperties of the items")
    return { kind: "compare" }
  }
  if (set.contains.length > 0) throw new SchemaProblem("uniqueItems together with contains, of few values")
  return { kind: "values", values: finiteValues(types, algebra) }
}

/**
 * Whether there are objects of bounded size in a type. Those that differ from one that was taken must have some key out
 * of many, which cannot be weighed against the bound.
 */
function hasBoundedObjects(type: ValueType, algebra: TypeAlgebra, open: Set<ValueType>): boolean {
  if (open.has(type)) return false
  open.add(type)
  const { arrays, objects } = algebra.livingShape(type)
  const inside = [
    ...arrays.flatMap(({ prefix, rest }) => [...prefix, rest]),
    ...objects.flatMap((set) => {
      const { named, others } = classifyKeys(set, algebra)
      return [...named, ...others].map((one) => one.type)
    }),
  ]
  return objects.some(({ max }) => max < Infinity) || inside.some((one) => hasBoundedObjects(one, algebra, open))
}

/** Whether a type surely has endlessly many values. */
function isInfinite(type: ValueType, algebra: TypeAlgebra, open: Set<ValueType>): boolean {
  if (open.has(type) || !algebra.inhabited(type)) return false
  open.add(type)
  const shape = algebra.livingShape(type)
  const result =
    shape.numbers.some(
      ({ low, high, step }) =>
        low === undefined || high === undefined || (step === undefined && low.value !== high.value),
    ) ||
    shape.strings.some(({ language, max }) => max === Infinity && hasCycle(language)) ||
    shape.arrays.some(
      (set) =>
        (set.max === Infinity && algebra.inhabited(set.rest)) ||
        set.prefix.some(
          (item, index) => index < longest(set, (one) => algebra.inhabited(one)) && isInfinite(item, algebra, open),
        ),
    ) ||
    shape.objects.some((set) => {
      const { named, others } = classifyKeys(set, algebra)
      if (set.max < Infinity)
        return named.some(({ name, type }) => set.required.includes(name) && isInfinite(type, algebra, open))
      return (
        others.some(({ finite, type }) => finite === undefined && algebra.inhabited(type)) ||
        named.some(({ type }) => isInfinite(type, algebra, open))
      )
    })
  open.delete(type)
  return result
}

/** Whether a language, which has no dead states, has texts of any length. */
function hasCycle({ size, classes, table }: { size: number; classes: number; table: Int32Array }): boolean {
  const colour = new Uint8Array(size)
  for (let root = 0; root < size; root++) {
    if (colour[root] !== 0) continue
    const stack = [{ state: root, next: 0 }]
    colour[root] = 1
    while (stack.length > 0) {
      const top = stack.at(-1)!
      if (top.next === classes) {
        colour[top.state] = 2
        stack.pop()
        continue
      }
      const target = table[top.state * classes + top.next++]!
      if (target < 0 || colour[target] === 2) continue
      if (colour[target] === 1) return true
      colour[target] = 1
      stack.push({ state: target, next: 0 })
    }
  }
  return false
}

/** Whether so many more items from `index` on can be found among the values that are left. */
export function enoughValues(set: ArraySet, values: readonly FiniteValue[], index: number, missing: number): boolean {
  if (missing > values.length) return false
  if (index >= set.prefix.length) return values.filter(({ belongs }) => belongs(set.rest)).length >= missing
  const takenBy: number[] = values.map(() => -1)
  // Kuhn's algorithm: every place gets a value of its own.
  const assign = (place: number, tried: Set<number>): boolean => {
    for (const [number, { belongs }] of values.entries()) {
      if (tried.has(number) || !belongs(itemType(set, index + place))) continue
      tried.add(number)
      if (takenBy[number]! < 0 || assign(takenBy[number]!, tried)) {
        takenBy[number] = place
        return true
      }
    }
    return false
  }
  for (let place = 0; place < missing; place++) if (!assign(place, new Set())) return false
  return true
}

/** Sets of arrays: meet, complement, and whether any array remains. */
import { type ArraySet, type Contains, SchemaProblem, type TypeAlgebra, type ValueType } from "./types.ts"

export function itemType(set: ArraySet, index: number): ValueType {
  return set.prefix[index] ?? set.rest
}

export function anyArray(algebra: TypeAlgebra): ArraySet {
  return { prefix: [], rest: algebra.any, min: 0, max: Infinity, unique: false, contains: [] }
}

export function meetArrays(a: ArraySet, b: ArraySet, algebra: TypeAlgebra): ArraySet {
  const length = Math.max(a.prefix.length, b.prefix.length)
  return {
    prefix: Array.from({ length }, (_, index) => algebra.intersect(itemType(a, index), itemType(b, index))),
    rest: algebra.intersect(a.rest, b.rest),
    min: Math.max(a.min, b.min),
    max: Math.min(a.max, b.max),
    unique: a.unique || b.unique,
    uniqueAt: a.uniqueAt ?? b.uniqueAt ?? "#",
    contains: [...a.contains, ...b.contains.filter((one) => !a.contains.some((other) => sameContains(one, other)))],
  }
}

function sameContains(a: Contains, b: Contains): boolean {
  return a.type === b.type && a.min === b.min && a.max === b.max && a.from === b.from
}

/**
 * Arrays that are not in the set, as a union. @throws SchemaProblem for `uniqueItems`, whose opposite no grammar can
 * say
 */
export function complementArrays(set: ArraySet, algebra: TypeAlgebra): ArraySet[] {
  if (set.unique) throw new SchemaProblem("the opposite of uniqueItems cannot be expressed")
  const any = anyArray(algebra)
  const result: ArraySet[] = []
  if (set.min > 0) result.push({ ...any, max: set.min - 1 })
  if (set.max < Infinity) result.push({ ...any, min: set.max + 1 })
  set.prefix.forEach((type, index) => {
    const not = algebra.complement(type)
    if (not === algebra.never) return
    const prefix = [...Array.from({ length: index }, () => algebra.any), not]
    result.push({ ...any, prefix, min: index + 1 })
  })
  const not = algebra.complement(set.rest)
  if (not !== algebra.never)
    result.push({ ...any, contains: [{ type: not, min: 1, max: Infinity, from: set.prefix.length }] })
  for (const { type, min, max, from } of set.contains) {
    if (min > 0) result.push({ ...any, contains: [{ type, min: 0, max: min - 1, from }] })
    if (max < Infinity) result.push({ ...any, contains: [{ type, min: max + 1, max: Infinity, from }] })
  }
  return result
}

/** `contains` clauses are weighed one by one: two that compete for the same few places are refused. */
export function hasArrays(set: ArraySet, algebra: TypeAlgebra, inhabited: (type: ValueType) => boolean): boolean {
  const max = longest(set, inhabited)
  if (set.min > max) return false
  if (set.contains.length === 0) return true
  return hasContained(set, max, algebra, inhabited)
}

/** How long an array can get before it needs an item whose type has no values. */
export function longest(set: ArraySet, inhabited: (type: ValueType) => boolean): number {
  const stop = set.prefix.findIndex((type, index) => index < set.max && !inhabited(type))
  if (stop >= 0) return Math.min(set.max, stop)
  if (set.max <= set.prefix.length || inhabited(set.rest)) return set.max
  return set.prefix.length
}

function hasContained(
  set: ArraySet,
  max: number,
  algebra: TypeAlgebra,
  inhabited: (type: ValueType) => boolean,
): boolean {
  const open = max === Infinity
  const bounded = set.contains.some((contains) => contains.max < Infinity)
  const needed = set.contains.filter(({ min }) => min > 0)
  if (set.contains.length > 1 && (bounded || !open) && (bounded || needed.length > 1)) {
    throw new SchemaProblem("several contains conditions together with bounds")
  }
  for (const { type, min, max: most, from } of set.contains) {
    const restCan = inhabited(algebra.intersect(set.rest, type))
    const fixed = set.prefix.slice(from, Math.min(max, set.prefix.length))
    const places = fixed.filter((item) => inhabited(algebra.intersect(item, type))).length
    const room = open ? Infinity : Math.max(0, max - Math.max(from, set.prefix.length))
    if (min > places + (restCan ? room : 0)) return false
    if (most === Infinity) continue
    const not = algebra.complement(type)
    if (fixed.length > 0) throw new SchemaProblem("maxContains (or the opposite of contains) together with prefixItems")
    const others = inhabited(algebra.intersect(set.rest, not))
    if (!others && set.min - from > most) return false
    if (min > most) return false
  }
  return true
}

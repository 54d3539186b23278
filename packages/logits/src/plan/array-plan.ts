/** What an array of a set may take next, given what it has: shared by the matcher and by GBNF text. */
import { memory } from "@toolwright/toolbox"
import { itemType, longest } from "../schema/arrays.ts"
import type { ArraySet, TypeAlgebra, ValueType } from "../schema/types.ts"
import { shapeOfValue } from "../schema/constants.ts"
import { enoughValues, type Uniqueness, uniquenessOf } from "../schema/unique-items.ts"

/**
 * How far an array is: the next index, how many items counted for each `contains`, and which of finitely many values
 * are used.
 */
export interface Progress {
  readonly index: number
  readonly counts: readonly number[]
  readonly used: bigint
  /** The items so far as JSON text, where later ones must differ from them. */
  readonly taken: readonly string[]
}

export interface ArrayPlan {
  readonly set: ArraySet
  readonly algebra: TypeAlgebra
  /** How long it can get. */
  readonly most: number
  readonly unique: Uniqueness
}

/** One more item: its type, and the progress after it. */
export interface Step {
  readonly type: ValueType
  readonly next: Progress
}

export const planOf = memory.derived((set: ArraySet, algebra: TypeAlgebra): ArrayPlan => {
  const most = longest(set, (type) => algebra.inhabited(type))
  return { set, algebra, most, unique: uniquenessOf(set, algebra) }
})

export function noItems({ set }: ArrayPlan): Progress {
  return { index: 0, counts: set.contains.map(() => 0), used: 0n, taken: [] }
}

/** The items that may come next, such that the array can still be brought to an end. */
export function steps(plan: ArrayPlan, progress: Progress): Step[] {
  if (progress.index >= plan.most) return []
  const index =
    plan.set.contains.length === 0 && plan.unique.kind === "no" ? clip(plan, progress.index + 1) : progress.index + 1
  return waysToFill(plan, progress).flatMap(({ type, counts, used }) => {
    const next: Progress = { index, counts, used, taken: progress.taken }
    return type.algebra.inhabited(type) && feasible(plan, next) ? [{ type, next }] : []
  })
}

/** The count past which nothing changes, so that long arrays do not need ever new frames. */
function clip({ set }: ArrayPlan, index: number): number {
  if (set.max < Infinity) return index
  return Math.min(index, Math.max(set.min, set.prefix.length))
}

function waysToFill(
  plan: ArrayPlan,
  { index, counts, used, taken }: Progress,
): { type: ValueType; counts: readonly number[]; used: bigint }[] {
  const { set, algebra, unique } = plan
  if (unique.kind === "values") {
    return unique.values.flatMap(({ type, belongs }, bit) =>
      ((used >> BigInt(bit)) & 1n) === 0n && belongs(itemType(set, index))
        ? [{ type, counts, used: used | (1n << BigInt(bit)) }]
        : [],
    )
  }
  const free = taken.reduce((type, text) => algebra.intersect(type, differentFrom(text, algebra)), itemType(set, index))
  let ways = [{ type: free, counts, used }]
  set.contains.forEach(({ type, min, max, from }, which) => {
    if (index < from) return
    ways = ways.flatMap((way) => {
      const count = way.counts[which]!
      const not = max < Infinity ? { ...way, type: algebra.intersect(way.type, algebra.complement(type)) } : way
      if (max === Infinity && count >= min) return [way]
      const counted = { ...way, type: algebra.intersect(way.type, type), counts: way.counts.with(which, count + 1) }
      return count >= max ? [not] : [counted, not]
    })
  })
  return ways
}

/** Whether the array may end. */
export function canClose({ set }: ArrayPlan, { index, counts }: Progress): boolean {
  return index >= set.min && set.contains.every(({ min }, which) => counts[which]! >= min)
}

/** Whether the array can still be brought to an end. */
function feasible(plan: ArrayPlan, { index, counts, used }: Progress): boolean {
  const { set, algebra, most, unique } = plan
  const missing = Math.max(0, set.min - index)
  if (
    unique.kind === "values" &&
    !enoughValues(
      set,
      unique.values.filter((_, bit) => ((used >> BigInt(bit)) & 1n) === 0n),
      index,
      missing,
    )
  )
    return false
  return set.contains.every(({ type, min, max, from }, which) => {
    const needed = Math.max(0, min - counts[which]!)
    const can = (at: number): boolean => at >= from && algebra.inhabited(algebra.intersect(itemType(set, at), type))
    let places = 0
    let at = index
    for (; at < Math.min(set.prefix.length, most) && places < needed; at++) if (can(at)) places++
    if (places < needed) {
      const start = Math.max(at, from, set.prefix.length)
      if (!can(start) || start + needed - places > most) return false
    }
    if (max === Infinity) return true
    const others = algebra.inhabited(algebra.intersect(set.rest, algebra.complement(type)))
    return others || Math.max(missing, needed) <= max - counts[which]!
  })
}

const differents = memory.derived((_algebra: TypeAlgebra) => new Map<string, ValueType>())

/** Every value but that of a JSON text. */
function differentFrom(text: string, algebra: TypeAlgebra): ValueType {
  const known = differents(algebra)
  let type = known.get(text)
  if (type === undefined)
    known.set(text, (type = algebra.complement(algebra.define("item", () => shapeOfValue(JSON.parse(text), algebra)))))
  return type
}

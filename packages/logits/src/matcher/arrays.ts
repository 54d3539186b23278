/** Arrays of a set: items, how many, and which of them have to be of some type. */
import type { Notation } from "../grammar/notation.ts"
import { itemType, longest } from "../schema/arrays.ts"
import type { ArraySet, TypeAlgebra, ValueType } from "../schema/types.ts"
import type { Frame, Sink } from "./frames.ts"
import { type UniqueItems, uniqueItems } from "./unique-items.ts"
import type { ValueWriter } from "./values.ts"

/** How far an array is: the next index, how many items counted for each `contains`, and which of finitely many values are used. */
interface Progress {
  readonly index: number
  readonly counts: readonly number[]
  readonly used: bigint
}

interface ArrayPlan {
  readonly set: ArraySet
  readonly algebra: TypeAlgebra
  readonly notation: Notation
  readonly writer: ValueWriter
  readonly parent: Frame
  readonly most: number
  readonly unique: UniqueItems | undefined
  readonly id: string
}

export function enterArray(set: ArraySet, algebra: TypeAlgebra, notation: Notation, lead: boolean, parent: Frame, sink: Sink, writer: ValueWriter): void {
  const most = longest(set, (type) => algebra.inhabited(type))
  const unique = set.unique && most > 1 ? uniqueItems(set, algebra) : undefined
  const id = `${writer.store.numberOf(set)},${writer.store.numberOf(notation)}`
  const plan: ArrayPlan = { set, algebra, notation, writer, parent, most, unique, id }
  const begin: Progress = { index: 0, counts: set.contains.map(() => 0), used: 0n }
  const first = (sink: Sink): void => {
    addItem(plan, begin, true, sink)
    if (canClose(plan, begin)) addLiteral(plan, [notation.array.close], parent, sink)
  }
  if (notation.array.open === "") first(sink)
  else sink.add(writer.literals([notation.array.open], notation, lead), writer.store.frame(parent, `a${id}`, (_, sink) => first(sink)))
}

function addLiteral({ writer, notation }: ArrayPlan, texts: readonly string[], frame: Frame, sink: Sink): void {
  if (texts.length === 1 && texts[0] === "") frame.after(0, sink)
  else sink.add(writer.literals(texts, notation, true), frame)
}

function addItem(plan: ArrayPlan, progress: Progress, lead: boolean, sink: Sink): void {
  const { set, algebra, notation, writer, parent } = plan
  if (progress.index >= plan.most) return
  const inner = notation.nested ?? notation
  for (const { type, counts, used } of waysToFill(plan, progress)) {
    const next: Progress = { index: set.contains.length === 0 ? clip(plan, progress.index + 1) : progress.index + 1, counts, used }
    if (!algebra.inhabited(type) || !feasible(plan, next)) continue
    const key = `i${plan.id},${next.index},${next.counts.join()},${next.used}`
    const frame = writer.store.frame(parent, key, (_, sink, self) => afterItem(plan, next, self, sink))
    writer.value(type, inner, lead, frame, sink)
  }
}

function afterItem(plan: ArrayPlan, progress: Progress, self: Frame, sink: Sink): void {
  const { notation, writer, parent } = plan
  const { separator, close } = notation.array
  const more = progress.index < plan.most && waysToFill(plan, progress).some(({ type, counts, used }) =>
    plan.algebra.inhabited(type) && feasible(plan, { index: progress.index + 1, counts, used }))
  const end = canClose(plan, progress)
  const going = writer.store.frame(self, "n", (outcome, sink) => {
    if (outcome === 0) addItem(plan, progress, true, sink)
    else parent.after(0, sink)
  })
  if (more && end && separator !== "" && close !== "") addLiteral(plan, [separator, close], going, sink)
  else {
    if (more) {
      const again = writer.store.frame(self, "s", (_, sink) => addItem(plan, progress, true, sink))
      addLiteral(plan, [separator], again, sink)
    }
    if (end) addLiteral(plan, [close], parent, sink)
  }
}

/** The count past which nothing changes, so that long arrays do not need ever new frames. */
function clip({ set }: ArrayPlan, index: number): number {
  if (set.max < Infinity) return index
  return Math.min(index, Math.max(set.min, set.prefix.length))
}

function waysToFill(plan: ArrayPlan, { index, counts, used }: Progress): { type: ValueType; counts: readonly number[]; used: bigint }[] {
  const { set, algebra, unique } = plan
  if (unique !== undefined) {
    return unique.values.flatMap(({ type, fits }, bit) => ((used >> BigInt(bit)) & 1n) === 0n && fits(index) ? [{ type, counts, used: used | (1n << BigInt(bit)) }] : [])
  }
  let ways = [{ type: itemType(set, index), counts, used }]
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

function canClose({ set }: ArrayPlan, { index, counts }: Progress): boolean {
  return index >= set.min && set.contains.every(({ min }, which) => counts[which]! >= min)
}

/** Whether the array can still be brought to an end. */
function feasible(plan: ArrayPlan, { index, counts, used }: Progress): boolean {
  const { set, algebra, most, unique } = plan
  const missing = Math.max(0, set.min - index)
  if (unique !== undefined && !unique.enough(index, missing, used)) return false
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

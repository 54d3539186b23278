/** What an object of a set may take next, given what it has: shared by the matcher and by GBNF text. */
import { memory } from "@toolwright/toolbox"
import type { Dfa } from "../automaton/dfa.ts"
import { classifyKeys } from "../schema/key-classes.ts"
import { closeNames, keySetHas } from "../schema/objects.ts"
import type { KeyRule, ObjectSet, TypeAlgebra, ValueType } from "../schema/types.ts"
import { type NameTree, nameTree } from "./key-language.ts"

/** Which keys an object has so far. */
export interface Progress {
  /** Bit i for name i. */
  readonly seen: bigint
  /** Keys that are no declared names. */
  readonly others: number
  /** Those keys themselves, where two of the same must not count as two. */
  readonly taken: readonly string[]
  /** Bit i where demand i (`set.some`) has been met. */
  readonly met: number
}

interface KeyClass {
  readonly type: ValueType
  readonly inhabited: boolean
  /** Bits of the demands that a key of this class can meet. */
  readonly meets: number
}

/** What of an object set does not depend on how far an object is. */
export interface ObjectPlan {
  readonly set: ObjectSet
  readonly names: readonly string[]
  readonly classes: readonly KeyClass[]
  readonly otherLanguages: readonly Dfa[]
  readonly tree: NameTree
  readonly required: bigint
  /** Names whose type has values. */
  readonly possible: bigint
  /** Name i brings these bits with it. */
  readonly closure: readonly bigint[]
  /** Keys beyond the declared names have to be told apart. */
  readonly keepsKeys: boolean
  readonly demands: readonly KeyRule[]
  readonly demandTypes: (index: number, demands: number) => ValueType
}

export const NO_KEYS: Progress = { seen: 0n, others: 0, taken: [], met: 0 }

export const planOf = memory.derived(planObject)

function planObject(set: ObjectSet, algebra: TypeAlgebra): ObjectPlan {
  const { named, others } = classifyKeys(set, algebra)
  const names = named.map(({ name }) => name)
  const bit = (name: string): bigint => 1n << BigInt(names.indexOf(name))
  const bits = (list: Iterable<string>): bigint => [...list].reduce((sum, name) => sum | bit(name), 0n)
  const demands = set.some
  const classes = [
    ...named.map(({ name, type }) => ({ name, type, has: undefined })),
    ...others.map(({ type, has }) => ({ name: undefined, type, has })),
  ].map(({ name, type, has }): KeyClass => {
    let meets = 0
    demands.forEach((demand, index) => {
      const inside = name === undefined ? has!(demand.keys) : keySetHas(demand.keys, name)
      if (inside && algebra.inhabited(algebra.intersect(type, demand.type))) meets |= 1 << index
    })
    return { type, inhabited: algebra.inhabited(type), meets }
  })
  return {
    set,
    names,
    classes,
    demands,
    otherLanguages: others.map(({ language }) => language),
    tree: nameTree(names),
    required: bits(closeNames(set.required, set.implies)),
    possible: names.reduce((sum, _, index) => (classes[index]!.inhabited ? sum | (1n << BigInt(index)) : sum), 0n),
    closure: names.map((name) => (set.implies.length === 0 ? bit(name) : bits(closeNames([name], set.implies)))),
    keepsKeys: others.length > 0 && set.min >= 2 && set.min > closeNames(set.required, set.implies).size,
    demandTypes: (index, chosen) =>
      demands.reduce(
        (type, demand, at) => ((chosen >> at) & 1 ? algebra.intersect(type, demand.type) : type),
        classes[index]!.type,
      ),
  }
}

/** Word by word: large objects have hundreds of names, and are asked about at each of their keys. */
function countBits(bits: bigint): number {
  let count = 0
  for (let rest = bits; rest !== 0n; rest >>= 32n) {
    let word = Number(BigInt.asUintN(32, rest)) | 0
    for (; word !== 0; word &= word - 1) count++
  }
  return count
}

/** Whether the object may end. */
export function canClose(
  { set, required, demands, closure }: ObjectPlan,
  { seen, others, taken, met }: Progress,
): boolean {
  if ((required & ~seen) !== 0n || met !== (1 << demands.length) - 1) return false
  if (
    set.implies.length > 0 &&
    !closure.every((bits, index) => !((seen >> BigInt(index)) & 1n) || (bits & ~seen) === 0n)
  )
    return false
  const distinct = countBits(seen) + (taken.length > 0 ? taken.length : Math.min(others, 1))
  return distinct >= set.min
}

/** Whether everything that has to come still can. */
function feasible(plan: ObjectPlan, { seen, others, met }: Progress): boolean {
  const { set, names, classes, closure, required, possible } = plan
  let due = required
  if (set.implies.length > 0)
    for (let index = 0, rest = seen; rest !== 0n; index++, rest >>= 1n) if (rest & 1n) due |= closure[index]!
  const missing = due & ~seen
  if ((missing & ~possible) !== 0n) return false
  if (set.max < Infinity && countBits(seen) + others + countBits(missing) > set.max) return false
  return plan.demands.every((_, index) => {
    if ((met >> index) & 1) return true
    return classes.some(({ meets }, at) => (meets >> index) & 1 && (at >= names.length || !((seen >> BigInt(at)) & 1n)))
  })
}

/** The names that may come next, and which of the other classes. */
export function openKeys(plan: ObjectPlan, progress: Progress): { names: bigint; others: boolean[] } {
  if (plan.set.implies.length === 0 && plan.demands.length === 0) return openSimpleKeys(plan, progress)
  let names = 0n
  plan.names.forEach((_, index) => {
    if (isOpenName(plan, index, progress)) names |= 1n << BigInt(index)
  })
  const others = plan.otherLanguages.map((_, index) => {
    const at = plan.names.length + index
    return plan.classes[at]!.inhabited && waysToMeet(plan, at, progress).length > 0
  })
  return { names, others }
}

/** Whether one name may come next: as {@link openKeys} has it, without asking for all the others. */
export function isOpenName(plan: ObjectPlan, index: number, progress: Progress): boolean {
  const bit = 1n << BigInt(index)
  if (plan.set.implies.length === 0 && plan.demands.length === 0)
    return (openSimpleKeys(plan, progress).names & bit) !== 0n
  if (progress.seen & bit || !plan.classes[index]!.inhabited) return false
  return waysToMeet(plan, index, progress).length > 0
}

/** Without dependencies and demands, all that counts is how many keys there may be. */
function openSimpleKeys(
  { set, possible, required, classes, names, otherLanguages }: ObjectPlan,
  { seen, others }: Progress,
): { names: bigint; others: boolean[] } {
  const missing = required & ~seen
  const room = set.max === Infinity || countBits(seen) + others + countBits(missing) < set.max
  return {
    names: (room ? possible : possible & missing) & ~seen,
    others: otherLanguages.map((_, index) => room && classes[names.length + index]!.inhabited),
  }
}

/**
 * For a key of a class: the sets of demands that its value may meet, such that the object can still be brought to an
 * end.
 */
export function waysToMeet(plan: ObjectPlan, index: number, progress: Progress): number[] {
  const can = plan.classes[index]!.meets & ~progress.met
  const ways: number[] = []
  for (let chosen = can; ; chosen = (chosen - 1) & can) {
    const next = withKey(plan, index, progress, undefined, chosen)
    if (feasible(plan, next) && plan.demandTypes(index, chosen).algebra.inhabited(plan.demandTypes(index, chosen)))
      ways.push(chosen)
    if (chosen === 0) return ways
  }
}

/** The progress after one more key. */
export function withKey(
  plan: ObjectPlan,
  index: number,
  progress: Progress,
  text: string | undefined,
  chosen: number,
): Progress {
  const met = progress.met | chosen
  if (index < plan.names.length) return { ...progress, seen: progress.seen | (1n << BigInt(index)), met }
  const taken = text === undefined ? progress.taken : [...progress.taken, text].toSorted()
  const bounded = plan.set.max < Infinity || plan.keepsKeys
  return { ...progress, others: bounded ? progress.others + 1 : 1, taken, met }
}

/**
 * Unions of objects without the members that say nothing new. Choices multiplied with each other give hundreds of sets
 * that say the same in another order, or the same and more besides.
 */
import { memory } from "@toolwright/toolbox"
import type { KeyRule, ObjectSet } from "./types.ts"

/** What restricts a set of objects: one with all the demands of another and no wider bounds lies in that other. */
interface Restricted {
  readonly set: ObjectSet
  /** Bit n for demand n. */
  readonly demands: bigint
  readonly count: number
}

/** The members that lie in no other one, as far as can be seen without looking into the types of their values. */
export const widerObjects = memory.derived(leaveOutNarrower)

function leaveOutNarrower(sets: readonly ObjectSet[]): readonly ObjectSet[] {
  if (sets.length < 2) return sets
  const numbering = new Numbering()
  const restricted = sets.map((set) => restrict(set, numbering))
  const kept: Restricted[] = []
  // What lies in another has as many demands or more, and bounds no wider: it comes after that other.
  for (const one of restricted.toSorted((a, b) => a.count - b.count || a.set.min - b.set.min || wider(b, a)))
    if (!kept.some((other) => liesIn(one, other))) kept.push(one)
  const left = new Set(kept.map(({ set }) => set))
  return sets.filter((set) => left.has(set))
}

/** Not a difference: both may have no upper bound. */
const wider = (a: Restricted, b: Restricted): number => Number(a.set.max > b.set.max) - Number(a.set.max < b.set.max)

const liesIn = (inner: Restricted, outer: Restricted): boolean =>
  (outer.demands & ~inner.demands) === 0n && outer.set.min <= inner.set.min && outer.set.max >= inner.set.max

function restrict(set: ObjectSet, numbering: Numbering): Restricted {
  const numbers = new Set<number>()
  for (const rule of set.rules) numbers.add(numbering.ofRule(rule))
  for (const rule of set.some) numbers.add(numbering.ofObject(rule))
  for (const name of set.required) numbers.add(numbering.ofText(`required ${name}`))
  for (const pair of set.implies) numbers.add(numbering.ofObject(pair))
  let demands = 0n
  for (const number of numbers) demands |= 1n << BigInt(number)
  return { set, demands, count: numbers.size }
}

/** Numbers for demands, equal ones the same. */
class Numbering {
  readonly #objects = new Map<object, number>()
  readonly #texts = new Map<string, number>()
  #next = 0

  ofObject(object: object): number {
    let number = this.#objects.get(object)
    if (number === undefined) this.#objects.set(object, (number = this.#next++))
    return number
  }

  ofText(text: string): number {
    let number = this.#texts.get(text)
    if (number === undefined) this.#texts.set(text, (number = this.#next++))
    return number
  }

  /** Most sets of a union share their rules; where they do not, a name and a type are what counts. */
  ofRule(rule: KeyRule): number {
    let number = this.#objects.get(rule)
    if (number === undefined) {
      const { keys, type } = rule
      const about = keys.kind === "name" ? `name ${keys.name}` : `keys ${this.ofObject(keys)}`
      this.#objects.set(rule, (number = this.ofText(`${about} ${type.order}`)))
    }
    return number
  }
}

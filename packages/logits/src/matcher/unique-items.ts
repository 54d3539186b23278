/** `uniqueItems` where the items are out of finitely many values: each value is taken at most once. */
import { itemType } from "../schema/arrays.ts"
import { finiteValues } from "../schema/finite.ts"
import type { ArraySet, TypeAlgebra, ValueType } from "../schema/types.ts"

export interface UniqueItems {
  readonly values: readonly { readonly type: ValueType; fits(index: number): boolean }[]
  /** Whether `missing` more items from `index` on can be found among the values not used. */
  enough(index: number, missing: number, used: bigint): boolean
}

const known = new WeakMap<ArraySet, UniqueItems>()

/** @throws SchemaProblem where the items are not out of finitely many values */
export function uniqueItems(set: ArraySet, algebra: TypeAlgebra): UniqueItems {
  let result = known.get(set)
  if (result === undefined) known.set(set, (result = workOut(set, algebra)))
  return result
}

function workOut(set: ArraySet, algebra: TypeAlgebra): UniqueItems {
  const kinds = [...set.prefix, set.rest]
  const all = finiteValues(kinds, algebra)
  const values = all.map(({ type, belongs }) => ({ type, fits: (index: number) => belongs(itemType(set, index)) }))
  return {
    values,
    enough(index, missing, used) {
      const free = values.filter((_, bit) => ((used >> BigInt(bit)) & 1n) === 0n)
      // Places and values are matched greedily where all places are alike, and by trying where they are not.
      if (index >= set.prefix.length) return free.filter(({ fits }) => fits(index)).length >= missing
      return matchPlaces(free, index, missing)
    },
  }
}

/** Kuhn's algorithm: every place gets a value of its own. */
function matchPlaces(values: UniqueItems["values"], index: number, places: number): boolean {
  const takenBy: number[] = values.map(() => -1)
  const assign = (place: number, tried: Set<number>): boolean => {
    for (const [number, { fits }] of values.entries()) {
      if (tried.has(number) || !fits(index + place)) continue
      tried.add(number)
      if (takenBy[number]! < 0 || assign(takenBy[number]!, tried)) {
        takenBy[number] = place
        return true
      }
    }
    return false
  }
  for (let place = 0; place < places; place++) if (!assign(place, new Set())) return false
  return true
}

/** What the keywords of a schema are read with. */
import type { Algebra } from "./algebra.ts"
import type { Located, References } from "./references.ts"
import type { ValueType } from "./types.ts"

/** What reading one schema needs. */
export interface Reader {
  readonly algebra: Algebra
  readonly references: References
  typeAt(at: Located): ValueType
  /**
   * The type of a schema in a place of its own, a property's or an item's: where objects are closed, if they are to be.
   */
  valueAt(at: Located): ValueType
  /** Runs one keyword of a schema. Refuses, or records and goes on with `otherwise`. */
  attempt<Result>(at: Located, keyword: string, run: () => Result, otherwise: Result): Result
}

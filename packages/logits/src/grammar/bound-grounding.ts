/** What a grammar knows of the conversation that its grounded values have to come from. */
import type { TextGraph } from "../lexeme/text-graph.ts"
import type { StringStyle } from "../lexeme/string-style.ts"
import type { NumberSet, StringSet } from "../schema/types.ts"

/** A conversation with its rules, as a grammar carries it. */
export interface BoundGrounding {
  /**
   * What may be written for a set in that style, as graphs of which any will do: none where the set is not grounded, or
   * cannot be.
   */
  strings(set: StringSet, style: StringStyle): readonly TextGraph[]
  /** The same for numbers, as JSON writes them. */
  numbers(set: NumberSet): readonly TextGraph[]
}

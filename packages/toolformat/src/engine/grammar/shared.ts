import { type Grammar, type Grounding, groundingKey } from "@toolwright/logits"
import { Latest, memory, type ToolDefinition } from "@toolwright/toolbox"
import type { Format } from "../syntax.ts"
import type { FormatGrammarOptions, RefusedSchema } from "./options.ts"

/** A grammar that conversations share, and the tools whose arguments it leaves free. */
interface SharedGrammar {
  readonly grammar: Grammar
  readonly refused: readonly RefusedSchema[]
}

/** Kept for the sets of tools that begin with the same one. */
const MAX_GRAMMARS = 16

const grammarsOf = memory.derived((_first: ToolDefinition) => new Latest<SharedGrammar>(MAX_GRAMMARS))
const numberOf = memory.numbers()

/** The part of a grammar that all conversations share: for the same format, tools and rules it is made once. */
export function sharedByConversations(
  format: Format,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions,
  grounding: Grounding,
  make: () => SharedGrammar,
): SharedGrammar {
  const [first] = tools
  if (first === undefined) return make()
  const { mode, parallel, reasoning, free = [], onRefused } = options
  const form = `${mode};${parallel};${reasoning};${onRefused !== undefined};${JSON.stringify([...free])}`
  const key = `${[format, ...tools].map(numberOf).join()};${form};${groundingKey(grounding)}`
  return grammarsOf(first).get(key, make)
}

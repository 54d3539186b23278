import { type Grammar, type Grounding, groundingKey } from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"
import type { Format } from "../syntax.ts"
import type { FormatGrammarOptions, RefusedSchema } from "./options.ts"

/** A grammar that conversations share, and the tools whose arguments it leaves free. */
interface SharedGrammar {
  readonly grammar: Grammar
  readonly refused: readonly RefusedSchema[]
}

const grammars = new WeakMap<ToolDefinition, Map<string, SharedGrammar>>()
/** Kept for the sets of tools that begin with the same one. */
const MAX_GRAMMARS = 16

const numbers = new WeakMap<object, number>()
let count = 0

function numberOf(object: object): number {
  let number = numbers.get(object)
  if (number === undefined) numbers.set(object, (number = count++))
  return number
}

/** The part of a grammar that all conversations share: for the same format, tools and rules it is made once. */
export function sharedByConversations(
  format: Format,
  tools: readonly ToolDefinition[],
  options: FormatGrammarOptions,
  grounding: Grounding,
  make: () => SharedGrammar,
): SharedGrammar {
  const [owner] = tools
  if (owner === undefined) return make()
  let known = grammars.get(owner)
  if (known === undefined) grammars.set(owner, (known = new Map()))
  const { mode, parallel, reasoning, free = [], onRefused } = options
  const form = `${mode};${parallel};${reasoning};${onRefused !== undefined};${JSON.stringify([...free])}`
  const key = `${[format, ...tools].map(numberOf).join()};${form};${groundingKey(grounding)}`
  let grammar = known.get(key)
  if (grammar === undefined) grammar = make()
  else known.delete(key)
  known.set(key, grammar)
  if (known.size > MAX_GRAMMARS) known.delete(known.keys().next().value!)
  return grammar
}

import type { Backend } from "@toolwright/backends"
import { LEAST_BIAS, tokenBias } from "@toolwright/logits"
import type { ToolFormatter } from "@toolwright/toolformat"

/** How much likelier the names of tools are to be, in logits; and the same by the tokens of this model. */
export interface Leaning {
  readonly tools: Readonly<Record<string, number>>
  readonly tokens: Readonly<Record<number, number>>
}

/** Beyond, asking for the tokens of all names takes longer than it is worth. */
const MOST_TOOLS = 256

/**
 * The bias of tokens that a bias of tools comes to with a model; undefined where the model's tokens are not told, or no
 * token makes a difference. Calls are taken to be written in the format, whoever writes them.
 */
export async function leaningOf(
  bias: ReadonlyMap<string, number>,
  { backend, formatter, signal }: { backend: Backend; formatter: ToolFormatter; signal: AbortSignal | undefined },
): Promise<Leaning | undefined> {
  const weighed = [...bias].filter(([, value]) => value !== 0)
  if (backend.tokenize === undefined || weighed.length === 0 || bias.size > MOST_TOOLS) return undefined
  const options = signal === undefined ? {} : { signal }
  // The first also finds out whether there is any use in asking for the others.
  const texts = [...bias.keys()].map((name) => [name, beginningOfCall(formatter, name)] as const)
  if ((await backend.tokenize(texts[0]![1], options)) === undefined) return undefined
  const found = await Promise.all(
    texts.map(async ([name, text]) => [name, await backend.tokenize!(text, options)] as const),
  )
  const names = new Map(found.flatMap(([name, tokens]) => (tokens === undefined ? [] : [[name, tokens] as const])))
  const tokens = tokenBias(bias, names)
  if (Object.keys(tokens).length === 0) return undefined
  return { tools: Object.fromEntries(weighed.map(([name, value]) => [name, Math.max(value, LEAST_BIAS)])), tokens }
}

/** A call in the format up to the end of its tool's name. */
function beginningOfCall(formatter: ToolFormatter, name: string): string {
  const call = formatter.printCalls([{ id: "call_1", name, arguments: {} }])
  const at = call.indexOf(name)
  return at < 0 ? name : call.slice(0, at + name.length)
}

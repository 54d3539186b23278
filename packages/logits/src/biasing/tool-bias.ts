/** What is known about a tool when the next call is about to be chosen. */
export interface BiasedTool {
  readonly name: string
  /** Artifacts it works on. */
  readonly consumes?: readonly string[]
}

export interface ToolBiasOptions {
  /** Artifacts that are there. */
  readonly available?: Iterable<string>
  /** How often each tool has been called. */
  readonly calls?: Readonly<Record<string, number>>
  /** Tools that must not be called now. */
  readonly blocked?: Iterable<string>
  /** Added when all inputs are there; 1 unless given, in logits. */
  readonly encouragement?: number
  /** Taken off for each call beyond the second; 1 unless given, in logits. */
  readonly discouragement?: number
}

/** Calls after which a tool counts as called repeatedly. */
const FREE_CALLS = 2

/**
 * How much to add to the logits of each tool's name: more for tools that consume something and have all of it, less for
 * each call
 * beyond the second, minus infinity for blocked ones.
 */
export function toolBias(tools: readonly BiasedTool[], options: ToolBiasOptions = {}): Map<string, number> {
  const available = new Set(options.available)
  const blocked = new Set(options.blocked)
  return new Map(
    tools.map(({ name, consumes = [] }) => {
      if (blocked.has(name)) return [name, Number.NEGATIVE_INFINITY]
      const ready = consumes.length > 0 && consumes.every((artifact) => available.has(artifact))
      const repeated = Math.max(0, (options.calls?.[name] ?? 0) - FREE_CALLS)
      return [name, (ready ? (options.encouragement ?? 1) : 0) - repeated * (options.discouragement ?? 1) + 0]
    }),
  )
}

/**
 * The bias for the tokens with which a tool's name may go on, given how much of a name stands already. A token that
 * leads to several
 * names gets the highest of their biases, so that a blocked tool does not take others with it.
 *
 * @param written what of the name has been generated
 * @param tokens the candidates, with their text
 * @returns values to add, by token number; tokens that lead to no name are left out (the grammar forbids them)
 */
export function nameTokenBias(
  bias: ReadonlyMap<string, number>,
  written: string,
  tokens: Iterable<readonly [id: number, text: string]>,
): Record<number, number> {
  const open = [...bias]
    .filter(([name]) => name.startsWith(written))
    .map(([name, value]) => [name.slice(written.length), value] as const)
  const result: Record<number, number> = {}
  for (const [id, text] of tokens) {
    if (text === "") continue
    // A token may go past the end of the name, into what closes it.
    const values = open
      .filter(([rest]) => rest.startsWith(text) || text.startsWith(rest))
      .filter(([rest]) => rest !== "" || !open.some(([other]) => other !== "" && other.startsWith(text)))
    if (values.length > 0) result[id] = Math.max(...values.map(([, value]) => value))
  }
  return result
}

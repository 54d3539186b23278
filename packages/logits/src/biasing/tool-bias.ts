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
 * each call beyond the second, minus infinity for blocked ones.
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
 * What leads to a blocked name costs so much, in logits, and nothing more than that: a bias of tokens holds for the
 * whole reply, and a token that is forbidden outright would be missing from its texts too. Whatever blocks a tool
 * refuses its call as well.
 */
export const LEAST_BIAS = -8

/** Tools by the tokens of their names, as far as they are the same. */
interface Fork {
  /** What the name that ends here has. */
  own?: number
  readonly next: Map<number, Fork>
}

/**
 * The bias of the tokens in which names part, from the bias of the names. Only differences count: where all names that
 * can follow are equally likely nothing is added, and a name goes after another one that it begins with by how much
 * more likely it is. A token that would lead to one name here and another there gets the weaker of the two.
 *
 * @param names the tokens with which each name is written, all from the same beginning, by the model's own vocabulary
 * @returns values to add, by token number
 */
export function tokenBias(
  bias: ReadonlyMap<string, number>,
  names: ReadonlyMap<string, readonly number[]>,
): Record<number, number> {
  const root: Fork = { next: new Map() }
  for (const [name, tokens] of names) {
    let fork = root
    for (const token of tokens) {
      let next = fork.next.get(token)
      if (next === undefined) fork.next.set(token, (next = { next: new Map() }))
      fork = next
    }
    fork.own = Math.max(LEAST_BIAS, bias.get(name) ?? 0)
  }
  const result: Record<number, number> = {}
  const told = new Set<number>()
  const tell = (token: number, value: number): void => {
    const weaker = told.has(token) && Math.abs(result[token] ?? 0) < Math.abs(value) ? (result[token] ?? 0) : value
    told.add(token)
    if (weaker === 0) delete result[token]
    else result[token] = weaker
  }
  walk(root, tell)
  return result
}

/** @returns the bias of the likeliest name that can follow */
function walk(fork: Fork, tell: (token: number, value: number) => void): number {
  const values = [...fork.next].map(([token, next]) => [token, walk(next, tell)] as const)
  const all = [...values.map(([, value]) => value), ...(fork.own === undefined ? [] : [fork.own])]
  const best = Math.max(...all)
  // The end of a name has no token of its own: those that go on are weighed against it.
  const base = fork.own ?? 0
  if (all.some((value) => value !== best)) for (const [token, value] of values) tell(token, value - base)
  return best
}

import type { FiguresRow, FiguresSeries } from "./shapes.ts"

/** What a million tokens cost, by name of the model. */
export type Prices = Readonly<Record<string, { input: number; output: number }>>

/** What is added up of a run or a call. */
export interface Added {
  ok: boolean
  ms: number
  inputTokens: number
  outputTokens: number
}

/** What one part of the span has of a name. */
interface Part extends Omit<Added, "ok" | "ms"> {
  count: number
  failed: number
  times: number[]
}

const NOTHING = { count: 0, failed: 0, inputTokens: 0, outputTokens: 0 }
const MOST_ROWS = 100

/** Sums by name, over all of the span and in each part of it. */
export class Tally {
  readonly #names = new Map<string, { repaired: number; parts: Map<number, Part> }>()
  readonly #parts: number
  readonly #prices: Prices

  constructor(parts: number, prices: Prices = {}) {
    this.#parts = parts
    this.#prices = prices
  }

  /** @param index the part of the span in which it began */
  add(name: string, { ok, ms, inputTokens, outputTokens }: Added, index: number): void {
    const { parts } = this.#named(name)
    const part = parts.get(index) ?? { ...NOTHING, times: [] }
    parts.set(index, part)
    part.count++
    if (!ok) part.failed++
    part.inputTokens += inputTokens
    part.outputTokens += outputTokens
    part.times.push(ms)
  }

  repaired(name: string, count: number): void {
    if (count > 0) this.#named(name).repaired += count
  }

  #named(name: string): { repaired: number; parts: Map<number, Part> } {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    const made = { repaired: 0, parts: new Map<number, Part>() }
    this.#names.set(name, made)
    return made
  }

  /**
   * The most frequent first.
   *
   * @param series so many of them over time too
   */
  rows(series: number): FiguresRow[] {
    return [...this.#names]
      .map(([name, { repaired, parts }]) => ({ name, repaired, parts, ...summed([...parts.values()]) }))
      .toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, MOST_ROWS)
      .map(({ parts, times, ...sums }, index) => ({
        ...sums,
        ...priced(costOf(this.#prices, sums.name, sums)),
        ms50: quantile(times, 0.5),
        ms95: quantile(times, 0.95),
        ...(index < series ? { over: this.#over(sums.name, parts) } : {}),
      }))
  }

  #over(name: string, parts: ReadonlyMap<number, Part>): FiguresSeries {
    const all = Array.from({ length: this.#parts }, (_, index) => parts.get(index) ?? { ...NOTHING, times: [] })
    const costs = all.map((part) => costOf(this.#prices, name, part)).filter((cost) => cost !== undefined)
    return {
      count: all.map(({ count }) => count),
      failed: all.map(({ failed }) => failed),
      inputTokens: all.map(({ inputTokens }) => inputTokens),
      outputTokens: all.map(({ outputTokens }) => outputTokens),
      ...(costs.length === all.length ? { cost: costs } : {}),
      ms50: all.map(({ times }) => quantile(times, 0.5)),
      ms95: all.map(({ times }) => quantile(times, 0.95)),
    }
  }
}

function summed(parts: readonly Part[]): Part {
  const sums: Part = { ...NOTHING, times: [] }
  for (const { count, failed, inputTokens, outputTokens, times } of parts) {
    sums.count += count
    sums.failed += failed
    sums.inputTokens += inputTokens
    sums.outputTokens += outputTokens
    for (const time of times) sums.times.push(time)
  }
  return sums
}

const priced = (cost: number | undefined): { cost?: number } => (cost === undefined ? {} : { cost })

/** What tokens of a model cost; undefined where its price is not known. */
export function costOf(
  prices: Prices,
  model: string,
  { inputTokens, outputTokens }: { inputTokens: number; outputTokens: number },
): number | undefined {
  if (!Object.hasOwn(prices, model)) return undefined
  const { input, output } = prices[model]!
  return (inputTokens * input + outputTokens * output) / 1_000_000
}

export function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

export function objectIn(json: string | null): Record<string, unknown> {
  try {
    const value = JSON.parse(json ?? "{}") as unknown
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

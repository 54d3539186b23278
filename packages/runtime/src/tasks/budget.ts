import type { RecordedEvent } from "@toolwright/agents"
import type { Budget, TaskRow } from "@toolwright/store"
import type { RunEvent } from "@toolwright/toolbox"
import { tokensAsked } from "../agents/spent.ts"
import type { ModelPrice } from "../configuration/model-settings.ts"

/** Watches what a task costs. */
export interface BudgetWatch extends Disposable {
  /** Aborted once it is used up. */
  readonly signal: AbortSignal
  /** Of what it was too much, once it is used up. */
  readonly exceeded: string | undefined
  see(event: RunEvent | RecordedEvent): void
}

/** About so many characters of a request or a reply are one token, where the server does not count. */
const CHARACTERS_PER_TOKEN = 4

type ToolEnd = Extract<RunEvent, { type: "tool-end" }>

/** What models cost, by their names. */
export type Prices = Readonly<Record<string, ModelPrice>>

/** Watches tokens, money and time; rounds are the executor's own limit. The time counts from the task's first start. */
export function watchBudget(budget: Budget, { started_at }: TaskRow, prices: Prices = {}): BudgetWatch {
  const { milliseconds } = budget
  const controller = new AbortController()
  let exceeded: string | undefined
  const exceed = (what: string): void => {
    exceeded ??= what
    controller.abort("budget")
  }
  const spending = new Spending(budget, prices)
  const left = milliseconds === undefined ? undefined : (started_at ?? Date.now()) + milliseconds - Date.now()
  const late = (): void => exceed(`its budget of ${milliseconds! / 1000} s is used up`)
  const timer = left === undefined ? undefined : setTimeout(late, Math.min(Math.max(left, 0), MOST_TIMER_MS))
  return {
    signal: controller.signal,
    get exceeded() {
      return exceeded
    },
    see(event) {
      const why = spending.see(event)
      if (why !== undefined) exceed(why)
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** What was spent on a task, and what is too much. */
class Spending {
  readonly #budget: Budget
  readonly #prices: Prices
  #price: ModelPrice | undefined
  /** Characters of the last request. */
  #asked = 0
  #tokens = 0
  #money = 0

  constructor(budget: Budget, prices: Prices) {
    this.#budget = budget
    this.#prices = prices
  }

  /** @returns of what it is too much now */
  see(event: RunEvent | RecordedEvent): string | undefined {
    const { tokens, money } = this.#budget
    if (tokens === undefined && money === undefined) return undefined
    switch (event.type) {
      case "run-start":
      case "run-resume":
        return this.#begins((event as { model: string }).model)
      case "request":
        if ("messages" in event) this.#asked = charactersIn(event.messages)
        return undefined
      case "reply":
        return this.#spend(event as Extract<RunEvent, { type: "reply" }>)
      case "tool-end":
        // What is going on is heard of as it goes on; of what was recorded there is only what it came to.
        return "seq" in event
          ? this.#spendTokens(tokensAsked((event as unknown as ToolEnd).result.metadata))
          : undefined
      default:
        return undefined
    }
  }

  #spendTokens(tokens: number): string | undefined {
    this.#tokens += tokens
    const { tokens: most = Infinity } = this.#budget
    return this.#tokens > most ? `its budget of ${most} tokens is used up (${this.#tokens})` : undefined
  }

  #begins(model: string): string | undefined {
    this.#price = this.#prices[model]
    if (this.#budget.money === undefined || this.#price !== undefined) return undefined
    return (
      `its budget is in money, and what '${model}' costs is not known: set model.prices: { ` +
      `${JSON.stringify(model)}: { input: …, output: … } }`
    )
  }

  #spend({ usage, raw = "" }: Extract<RunEvent, { type: "reply" }>): string | undefined {
    const input = usage?.inputTokens ?? Math.ceil(this.#asked / CHARACTERS_PER_TOKEN)
    const output = usage?.outputTokens ?? Math.ceil(raw.length / CHARACTERS_PER_TOKEN)
    this.#tokens += input + output
    if (this.#price !== undefined) this.#money += (input * this.#price.input + output * this.#price.output) / 1_000_000
    const { tokens = Infinity, money = Infinity } = this.#budget
    if (this.#tokens > tokens) return `its budget of ${tokens} tokens is used up (${this.#tokens})`
    return this.#money > money ? `its budget of ${money} is used up (${Number(this.#money.toPrecision(3))})` : undefined
  }
}

/** The longest time that a timer keeps. */
const MOST_TIMER_MS = 2 ** 31 - 1

function charactersIn(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

import type { RecordedEvent } from "@toolwright/agents"
import type { Budget, TaskRow } from "@toolwright/store"
import type { RunEvent } from "@toolwright/toolbox"

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

/** Watches tokens and time; rounds are the executor's own limit. The time counts from the task's first start. */
export function watchBudget({ tokens, milliseconds }: Budget, { started_at }: TaskRow): BudgetWatch {
  const controller = new AbortController()
  let exceeded: string | undefined
  let used = 0
  let asked = 0
  const exceed = (what: string): void => {
    exceeded ??= what
    controller.abort("budget")
  }
  const left = milliseconds === undefined ? undefined : (started_at ?? Date.now()) + milliseconds - Date.now()
  const late = (): void => exceed(`its budget of ${milliseconds! / 1000} s is used up`)
  const timer = left === undefined ? undefined : setTimeout(late, Math.min(Math.max(left, 0), MOST_TIMER_MS))
  return {
    signal: controller.signal,
    get exceeded() {
      return exceeded
    },
    see(event) {
      if (tokens === undefined) return
      if (event.type === "request" && "messages" in event) asked = charactersIn(event.messages)
      if (event.type !== "reply") return
      const { usage, raw } = event as Extract<RunEvent, { type: "reply" }>
      used +=
        usage === undefined
          ? Math.ceil((asked + (raw?.length ?? 0)) / CHARACTERS_PER_TOKEN)
          : usage.inputTokens + usage.outputTokens
      if (used > tokens) exceed(`its budget of ${tokens} tokens is used up (${used})`)
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/** The longest time that a timer keeps. */
const MOST_TIMER_MS = 2 ** 31 - 1

function charactersIn(value: unknown): number {
  return JSON.stringify(value)?.length ?? 0
}

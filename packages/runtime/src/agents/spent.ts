import type { RunEvent } from "@toolwright/toolbox"

/** What a run has used so far, with the runs that it asked for. */
export class Spent {
  #tokens = 0
  readonly #began = performance.now()

  get tokens(): number {
    return this.#tokens
  }

  get seconds(): number {
    return (performance.now() - this.#began) / 1000
  }

  see(event: RunEvent): void {
    if (event.type === "reply") this.#tokens += (event.usage?.inputTokens ?? 0) + (event.usage?.outputTokens ?? 0)
    else if (event.type === "tool-end") this.#tokens += tokensAsked(event.result.metadata)
  }
}

/** The tokens of a run that was asked for by a call, by what its result says. */
export function tokensAsked(metadata: Record<string, unknown>): number {
  const { inputTokens = 0, outputTokens = 0 } = (metadata.asked ?? {}) as {
    inputTokens?: number
    outputTokens?: number
  }
  return inputTokens + outputTokens
}

/** Passes the events of a run on, and counts what they cost. */
export async function* counted<End>(
  events: AsyncGenerator<RunEvent, End>,
  spent: Spent,
): AsyncGenerator<RunEvent, End> {
  try {
    for (let step = await events.next(); ; step = await events.next()) {
      if (step.done) return step.value
      spent.see(step.value)
      yield step.value
    }
  } finally {
    await events.return(undefined as never)
  }
}

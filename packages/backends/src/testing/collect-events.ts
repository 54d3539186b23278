import type { InferEvent } from "../model/backend.ts"

/** All events of one inference. */
export async function collectEvents(events: AsyncIterable<InferEvent>): Promise<InferEvent[]> {
  const all: InferEvent[] = []
  for await (const event of events) all.push(event)
  return all
}

/** The text that the events' deltas of one kind make. */
export function joined(events: readonly InferEvent[], type: "text-delta" | "reasoning-delta" = "text-delta"): string {
  return events.map((event) => (event.type === type ? event.text : "")).join("")
}

import { createStopCutter } from "@toolwright/backends"
import { eventsOf, type ReplyEvents, type ReplySource } from "./sources.ts"

/**
 * A reply whose text ends at one of these, and which is left there: whatever the model would say further costs nothing.
 */
export async function* stoppingAt(stops: readonly string[], source: ReplySource): ReplyEvents {
  const cutter = createStopCutter(stops)
  const events = eventsOf(source)
  let said = ""
  try {
    for (;;) {
      const step = await events.next()
      const end = step.done === true
      if (!end && step.value.type !== "text-delta") {
        // The beginning of a stop that a call follows is none, and stands before the call.
        const before = step.value.type === "call-start" ? cutter.end() : ""
        said += before
        if (before !== "") yield { type: "text-delta", text: before }
        yield step.value
        continue
      }
      const text = step.done === true ? cutter.end() : cutter.push((step.value as { text: string }).text)
      said += text
      if (text !== "") yield { type: "text-delta", text }
      if (cutter.found !== undefined) return { finishReason: "stop", selfKnowledge: {}, said, stoppedAt: cutter.found }
      if (step.done === true) return step.value
    }
  } finally {
    await events.return(undefined as never)
  }
}

import type { InferEvent } from "@toolwright/backends"
import type { AskEvent } from "./ask.ts"

/** A call that has begun and not ended, by how much of its arguments was passed on. */
interface OpenCall {
  index: number
  sent: number
}

/** Writes what is told of a reply as a backend with native tool use tells it. */
export interface CallEvents {
  from(event: AskEvent): InferEvent[]
  /** Calls so far. */
  readonly count: number
}

/**
 * Calls are numbered in their order. A problem stays visible: text that looked like a call and could not be read is
 * content, and arguments of a native call that are no JSON are passed on as they came.
 */
export function createCallEvents(): CallEvents {
  const open = new Map<string, OpenCall>()
  let count = 0

  function brokenArguments(text: string): InferEvent[] | undefined {
    for (const [id, { index, sent }] of open) {
      open.delete(id)
      return text.length > sent ? [{ type: "call-delta", index, arguments: text.slice(sent) }] : []
    }
    return undefined
  }

  return {
    get count() {
      return count
    },
    from(event) {
      switch (event.type) {
        case "text-delta":
        case "reasoning-delta":
          return [event]
        case "model-retry":
          return [{ type: "retry", attempt: event.attempt, delayMs: event.delayMs, reason: event.reason }]
        case "call-start": {
          const index = count++
          open.set(event.callId, { index, sent: 0 })
          return [{ type: "call-delta", index, id: event.callId, name: event.name, arguments: "" }]
        }
        case "args-delta": {
          const call = open.get(event.callId)
          if (call === undefined) return []
          call.sent += event.text.length
          return [{ type: "call-delta", index: call.index, arguments: event.text }]
        }
        case "call-end":
          open.delete(event.callId)
          return []
        case "parse-problem": {
          if (event.repaired) return []
          const rest = event.kind === "invalid-arguments" ? brokenArguments(event.text) : undefined
          return rest ?? [{ type: "text-delta", text: event.text }]
        }
        default:
          return []
      }
    },
  }
}

import { callsInOrder, resultsInOrder, unreadCallsOf, unreadResult, type UnreadCall } from "@toolwright/dialogue"
import type { RunEvent } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { TOO_MANY_STEPS } from "../gateway/agent-run.ts"

/** Gathers the messages of a run from its events: replies with their calls, each followed by the results. */
export function messagesOfRun(): { hear(event: RunEvent): void; take(): ChatMessage[] } {
  let messages: ChatMessage[] = []
  let unread: UnreadCall[] = []
  return {
    hear(event) {
      if (event.type === "round-start") unread = []
      else if (event.type === "parse-problem") unread.push(...unreadCallsOf([event]))
      else if (event.type === "reply") {
        const made = callsInOrder(event.calls, unread)
        const calls = made.length === 0 ? {} : { toolCalls: made }
        messages.push({ role: "assistant", content: event.content, ...calls }, ...unread.map(resultOf))
      } else if (event.type === "tool-end") {
        messages.push({
          role: "tool",
          content: event.result.output,
          callId: event.callId,
          name: event.name,
          success: event.result.success,
        })
      } else if (event.type === "run-end" && event.summary.outcome === "max-rounds") {
        messages.push({ role: "assistant", content: TOO_MANY_STEPS })
      }
    },
    take() {
      const taken = inOrder(completed(messages))
      messages = []
      return taken
    },
  }
}

function resultOf(unread: UnreadCall): ChatMessage {
  const { id: callId, name } = unread.call
  return { role: "tool", content: unreadResult(unread).output, callId, name, success: false }
}

/** The results of each reply in the order of its calls. */
function inOrder(messages: readonly ChatMessage[]): ChatMessage[] {
  const ordered: ChatMessage[] = []
  let at = 0
  while (at < messages.length) {
    const message = messages[at++]!
    ordered.push(message)
    if (message.role !== "assistant") continue
    const from = at
    while (messages[at]?.role === "tool") at++
    ordered.push(...resultsInOrder(message.toolCalls ?? [], messages.slice(from, at)))
  }
  return ordered
}

/** Every call has its result: what was cut off in between is told as such. */
function completed(messages: ChatMessage[]): ChatMessage[] {
  const answered = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.callId] : [])))
  return messages.flatMap((message) => {
    if (message.role !== "assistant" || message.toolCalls === undefined) return [message]
    const open = message.toolCalls.filter(({ id }) => !answered.has(id))
    return [
      message,
      ...open.map((call): ChatMessage => ({
        role: "tool",
        content: "The call was cancelled.",
        callId: call.id,
        name: call.name,
        success: false,
      })),
    ]
  })
}

import { ToolwrightError } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import type { CompactionOptions, ContextManager } from "./manager.ts"

/**
 * Keeps a conversation inside the window: when it reaches the threshold, older rounds become one summary of what was
 * called,
 * what came of it and which errors there were, while the system prompt, the task and the last rounds stay whole.
 *
 * @throws ToolwrightError `CONTEXT_EXCEEDED` from `prepare` when the system prompt and the task alone are too large
 */
export function compactingContext(options: CompactionOptions): ContextManager {
  const { contextTokens, threshold = 0.75, keepRounds = 3, countTokens = quarterOfCharacters } = options
  const sizes = new WeakMap<ChatMessage, number>()
  const sizeOf = (message: ChatMessage): number => {
    let size = sizes.get(message)
    if (size === undefined) sizes.set(message, (size = countTokens(textOf(message)) + 4))
    return size
  }
  const total = (messages: readonly ChatMessage[]): number =>
    messages.reduce((sum, message) => sum + sizeOf(message), 0)
  const limit = contextTokens * threshold
  return {
    prepare(messages) {
      if (total(messages) <= limit) return messages
      const head = messages.slice(0, firstRound(messages))
      if (total(head) > contextTokens) {
        throw new ToolwrightError(
          "CONTEXT_EXCEEDED",
          `The system prompt and the task alone take about ${total(head)} tokens; the model's window has ${contextTokens}.`,
          {
            hint: "Offer fewer tools, shorten the task, or use a model with a larger window.",
          },
        )
      }
      const rounds = splitRounds(messages.slice(head.length))
      for (let kept = Math.min(keepRounds, rounds.length); kept > 0; kept--) {
        const compacted = compact(head, rounds, kept)
        if (total(compacted) <= contextTokens) return compacted
      }
      return compact(head, rounds, 0)
    },
  }
}

function compact(head: readonly ChatMessage[], rounds: ChatMessage[][], kept: number): ChatMessage[] {
  const older = rounds.slice(0, rounds.length - kept)
  if (older.length === 0) return [...head, ...rounds.flat()]
  return [...head, { role: "user", content: summary(older) }, ...rounds.slice(rounds.length - kept).flat()]
}

/** One line a call and its outcome: enough to know what was done and what failed. */
function summary(rounds: ChatMessage[][]): string {
  const lines = rounds.flat().flatMap((message) => {
    if (message.role === "tool") {
      return [
        `- ${message.toolName}: ${message.success ? "done" : "failed"}: ${oneLine(message.content, message.success ? 120 : 300)}`,
      ]
    }
    return message.role === "user" ? [`- note: ${oneLine(message.content, 200)}`] : []
  })
  return `Summary of ${rounds.length} earlier rounds (their text was left out to save room):\n${lines.slice(-60).join("\n")}`
}

function firstRound(messages: readonly ChatMessage[]): number {
  const first = messages.findIndex(({ role }) => role === "assistant")
  return first < 0 ? messages.length : first
}

/** A round is a reply and what answers it, so a call is never parted from its result. */
function splitRounds(messages: readonly ChatMessage[]): ChatMessage[][] {
  const rounds: ChatMessage[][] = []
  for (const message of messages) {
    if (message.role === "assistant" || rounds.length === 0) rounds.push([message])
    else rounds.at(-1)!.push(message)
  }
  return rounds
}

function textOf(message: ChatMessage): string {
  const calls = message.role === "assistant" && message.toolCalls !== undefined ? JSON.stringify(message.toolCalls) : ""
  return message.content + calls
}

function oneLine(text: string, most: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > most ? `${line.slice(0, most - 1)}…` : line
}

function quarterOfCharacters(text: string): number {
  return Math.ceil(text.length / 4)
}

import { createHash } from "node:crypto"
import type { ToolCall, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { declarationOf, TOOL_SEARCH } from "../search/tool-search.ts"

/** A search with what came of it, as the model was shown it and the client was not. */
export interface Exchange {
  messages: readonly ChatMessage[]
  /** What the model said before it searched: the client was told that. */
  said: string
  /** The tools that were shown. */
  shown: readonly string[]
}

/** A conversation as the model knows it. */
export interface Restored {
  messages: readonly ChatMessage[]
  /** Tools that its searches have shown by then. */
  shown: readonly string[]
  /** Under which its next searches are kept. */
  key: string
}

/** Characters that are kept at most. */
const MOST_KEPT = 4 * 1024 * 1024

/**
 * The searches of conversations, which clients know nothing of and so cannot send back. Each is kept under what stood
 * before it, and under the ids of the calls that it led to. Where it is kept no more, what the conversation calls is
 * shown once more before its first call.
 */
export class KeptSearches {
  readonly #kept = new Map<string, { exchange: Exchange; size: number }>()
  #size = 0

  /** Puts what is kept of a conversation back into it, and what is missing. */
  restore(messages: readonly ChatMessage[], deferred: readonly ToolDefinition[]): Restored {
    const restored: ChatMessage[] = []
    const shown = new Set<string>()
    const add = ({ messages: hidden, shown: names }: Exchange): void => {
      restored.push(...hidden)
      for (const name of names) shown.add(name)
    }
    let key = keyOf(
      "",
      deferred.map(({ name }) => name),
    )
    for (const message of messages) {
      if (message.role !== "assistant") restored.push(message)
      else {
        const { toolCalls = [] } = message
        const kept = this.#find([key, ...toolCalls.map(({ id }) => id)])
        if (kept !== undefined) add(kept)
        const called = toolCalls.map(({ name }) => name)
        const missing = deferred.filter(({ name }) => called.includes(name) && !shown.has(name))
        if (missing.length > 0) add(shownAgain(missing, key))
        restored.push(withoutStart(message, kept?.said ?? ""))
      }
      key = keyOf(key, message)
    }
    return { messages: restored, shown: [...shown], key }
  }

  /** Keeps what was searched in an answer. */
  keep(key: string, callIds: readonly string[], exchange: Exchange): void {
    const size = JSON.stringify(exchange.messages).length
    for (const one of [key, ...callIds]) {
      this.#forget(one)
      this.#kept.set(one, { exchange, size })
      this.#size += size
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= MOST_KEPT) break
      this.#forget(oldest)
    }
  }

  #find(keys: readonly string[]): Exchange | undefined {
    for (const key of keys) {
      const found = this.#kept.get(key)
      if (found === undefined) continue
      this.#kept.delete(key)
      this.#kept.set(key, found)
      return found.exchange
    }
    return undefined
  }

  #forget(key: string): void {
    this.#size -= this.#kept.get(key)?.size ?? 0
    this.#kept.delete(key)
  }
}

/** A search as a part of the conversation. */
export function exchangeOf(
  said: string,
  searches: readonly { call: ToolCall; result: ToolResult }[],
): readonly ChatMessage[] {
  return [
    { role: "assistant", content: said.trim(), toolCalls: searches.map(({ call }) => call) },
    ...searches.map(({ call, result }): ChatMessage => {
      const { output: content, success } = result
      return { role: "tool", content, callId: call.id, name: call.name, success }
    }),
  ]
}

/** What shows tools that a conversation calls already: the same for the same conversation. */
function shownAgain(tools: readonly ToolDefinition[], key: string): Exchange {
  const names = tools.map(({ name }) => name)
  const call = { id: `call_${key.slice(0, 24)}`, name: TOOL_SEARCH, arguments: { query: names.join(" ") } }
  const result = { success: true, output: tools.map(declarationOf).join("\n") } as ToolResult
  return { messages: exchangeOf("", [{ call, result }]), said: "", shown: names }
}

/** The client has what was said before a search and after it in one. */
function withoutStart<Reply extends Extract<ChatMessage, { role: "assistant" }>>(message: Reply, said: string): Reply {
  if (said === "" || !message.content.startsWith(said)) return message
  return { ...message, content: message.content.slice(said.length).trimStart() }
}

function keyOf(before: string, what: unknown): string {
  return createHash("sha256").update(before).update(JSON.stringify(what)).digest("hex")
}

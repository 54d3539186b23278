import type { ChatMessage } from "@toolwright/toolformat"

/** How much of a request a server has read already, in characters of what is sent. */
export interface KeptPrefix {
  /** Characters at the front that are as they were in the request before. */
  readonly kept: number
  /** Characters of the request before. */
  readonly of: number
}

/**
 * Compares each request of a run with the one before. A server that keeps what it has read goes on where the two part,
 * so whatever is told late has to stand late. What is the same object is not looked at again: a request that only adds
 * to the one before costs what it adds.
 */
export class PrefixMeter {
  /** The parts of the request before: its tools, then its messages. */
  readonly #parts: unknown[] = []
  /** Characters up to the end of each part. */
  readonly #ends: number[] = []

  /** Nothing for the first request. */
  measure(tools: readonly unknown[], messages: readonly ChatMessage[]): KeptPrefix | undefined {
    const parts = this.#parts
    const count = tools.length + messages.length
    const same = this.#sameAsBefore(tools, messages)
    const [of, kept] = [this.#endOf(parts.length), this.#endOf(same)]
    const alike = same === parts.length ? 0 : this.#alikeFrom(same, [...tools, ...messages])
    const isFirst = parts.length === 0
    this.#ends.length = parts.length = same
    for (let index = same; index < count; index++) {
      const message = index < tools.length ? undefined : messages[index - tools.length]!
      const added = message ?? tools[index]
      parts.push(added)
      const size = message === undefined ? JSON.stringify(added).length : charactersIn(message)
      this.#ends.push(this.#endOf(index) + size)
    }
    return isFirst ? undefined : { kept: kept + alike, of }
  }

  /** How many parts at the front are the same objects: looked at in every round, so in plain loops. */
  #sameAsBefore(tools: readonly unknown[], messages: readonly ChatMessage[]): number {
    const parts = this.#parts
    const most = parts.length
    let same = 0
    while (same < tools.length && same < most && parts[same] === tools[same]) same++
    if (same < tools.length) return same
    const offset = tools.length
    const end = Math.min(most, offset + messages.length)
    while (same < end && parts[same] === messages[same - offset]) same++
    return same
  }

  /** How many characters the parts from the first changed one on have in common at their beginning. */
  #alikeFrom(first: number, now: readonly unknown[]): number {
    let sum = 0
    for (let index = first; index < Math.min(this.#parts.length, now.length); index++) {
      const text = JSON.stringify(this.#parts[index])
      const same = common(text, JSON.stringify(now[index]))
      const size = this.#endOf(index + 1) - this.#endOf(index)
      sum += Math.round((size * same) / text.length)
      if (same < text.length) break
    }
    return sum
  }

  #endOf(parts: number): number {
    return this.#ends[parts - 1] ?? 0
  }
}

/**
 * Characters of a message, about as it is sent. Those of its text are counted and not written, since every message of a
 * run is looked at.
 */
function charactersIn(message: ChatMessage): number {
  if (message.role === "user" && message.media !== undefined) return JSON.stringify(message).length
  const calls = message.role === "assistant" ? message.toolCalls : undefined
  return message.content.length + (calls === undefined ? 0 : JSON.stringify(calls).length)
}

function common(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let at = 0
  while (at < most && a[at] === b[at]) at++
  return at
}

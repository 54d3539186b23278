import type { ChatMessage } from "@toolwright/toolformat"

/** Rounds: a reply and what answers it, so a call is never parted from its result. */
export function splitBlocks(messages: readonly ChatMessage[]): ChatMessage[][] {
  return split(messages, ({ role }) => role === "assistant")
}

/** Turns: what a user said, and all that came of it. */
export function splitTurns(messages: readonly ChatMessage[]): ChatMessage[][] {
  return split(messages, ({ role }) => role === "user")
}

function split(messages: readonly ChatMessage[], begins: (message: ChatMessage) => boolean): ChatMessage[][] {
  const blocks: ChatMessage[][] = []
  for (const message of messages) {
    if (begins(message) || blocks.length === 0) blocks.push([message])
    else blocks.at(-1)!.push(message)
  }
  return blocks
}

/** A round whose results have so many characters together at most. */
export function cutResults(round: readonly ChatMessage[], most: number): ChatMessage[] {
  const results = round.filter(({ role }) => role !== "assistant").length
  const share = Math.floor(most / Math.max(1, results))
  return round.map((message) =>
    message.role === "assistant" ? message : { ...message, content: bothEnds(message.content, share) },
  )
}

/** The beginning and the end of a text; most of it from the beginning. */
export function bothEnds(text: string, most: number): string {
  if (text.length <= most) return text
  const note = "\n[… left out to save room …]\n"
  const kept = Math.max(0, most - note.length)
  const head = Math.ceil((kept * 2) / 3)
  const end = kept - head
  return `${text.slice(0, head)}${note}${end === 0 ? "" : text.slice(-end)}`
}

import { ToolwrightError } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import type { AboutConversation, CompactionOptions, ContextManager, Utilisation } from "./manager.ts"
import { lastOf, SELECTIONS, type Selection } from "./selection.ts"
import { cutResults, splitBlocks, splitTurns } from "./parts.ts"
import { standingFailures, summaryOf } from "./summary.ts"

/**
 * Keeps a conversation inside the window. From the threshold on, what the strategy does not keep becomes a summary:
 * what was asked and answered before the task, then rounds of the task, with the calls made, the files changed, and the
 * failures that nothing has mended since. The system prompt and the task stay whole and in their place, and so do the
 * last rounds; where one of them alone is too large, its results are cut.
 *
 * @throws ToolwrightError `CONTEXT_EXCEEDED` from `prepare` when the system prompt and the task alone are too large
 */
export function compactingContext(options: CompactionOptions): ContextManager {
  const {
    contextTokens,
    threshold = 0.75,
    strategy = "summary",
    keepRounds,
    countTokens = quarterOfCharacters,
  } = options
  const sizes = new WeakMap<ChatMessage, number>()
  const sizeOf = (message: ChatMessage): number => {
    let size = sizes.get(message)
    if (size === undefined) sizes.set(message, (size = countTokens(textOf(message)) + 4))
    return size
  }
  const total = (messages: readonly ChatMessage[]): number =>
    messages.reduce((sum, message) => sum + sizeOf(message), 0)

  const prepared = (messages: readonly ChatMessage[], about: AboutConversation): readonly ChatMessage[] => {
    // However many tools there are: what is known of their size is no more than a guess.
    const besideTokens = besideIn(about)
    if (total(messages) + besideTokens <= contextTokens * threshold) return messages
    const parts = partsOf(messages, about)
    const room = contextTokens - besideTokens - total([...parts.system, ...parts.task])
    if (room < 0) throw tooLarge(contextTokens - room, contextTokens)
    for (const selection of SELECTIONS[strategy]({ ...parts, keepRounds, room, sizeOf: total })) {
      for (const share of SUMMARY_SHARES) {
        const most = share * contextTokens * CHARACTERS_PER_TOKEN
        const compacted = compact(parts, selection, { most, brief: strategy === "last" })
        if (total(compacted) + besideTokens <= contextTokens) return compacted
      }
    }
    return tightly(parts, (compacted) => total(compacted) + besideTokens <= contextTokens, room)
  }
  const besideIn = ({ besideTokens = 0 }: AboutConversation): number => Math.min(besideTokens, contextTokens / 2)

  return {
    prepare(messages, about = {}) {
      const sent = prepared(messages, about)
      const tokens = total(sent) + besideIn(about)
      const kept = new Set(sent)
      const leftOut = sent === messages ? 0 : messages.filter((message) => !kept.has(message)).length
      const utilisation = utilisationOf(tokens / contextTokens)
      about.report?.({ tokens, contextTokens, utilisation, leftOut, messages: messages.length })
      return sent
    },
  }
}

function utilisationOf(share: number): Utilisation {
  if (share <= 1 / 3) return "low"
  return share <= 2 / 3 ? "medium" : "full"
}

/** Shares of the window that a summary may take, the first that leaves room for the rounds that are kept. */
const SUMMARY_SHARES = [0.5, 0.25, 0.1] as const
const CHARACTERS_PER_TOKEN = 4

/** A conversation, taken apart; `before` and `rounds` are blocks that stay together. */
interface Parts {
  system: readonly ChatMessage[]
  before: readonly ChatMessage[][]
  task: readonly ChatMessage[]
  rounds: readonly ChatMessage[][]
  changedFiles: readonly string[]
  recall: string | undefined
}

function partsOf(messages: readonly ChatMessage[], { task, changedFiles = [], recall }: AboutConversation): Parts {
  const start = messages[0]?.role === "system" ? 1 : 0
  const named =
    task === undefined ? -1 : messages.findLastIndex(({ role, content }) => role === "user" && content === task)
  const reply = messages.findIndex(({ role }) => role === "assistant")
  const at = named >= 0 ? named : Math.max(start, (reply < 0 ? messages.length : reply) - 1)
  return {
    system: messages.slice(0, start),
    before: splitTurns(messages.slice(start, at)),
    task: messages.slice(at, at + 1),
    rounds: splitBlocks(messages.slice(at + 1)),
    changedFiles,
    recall,
  }
}

/** The selected blocks whole and in their order, of the others a summary of so many characters. */
function compact(parts: Parts, selection: Selection, { most, brief }: { most: number; brief: boolean }): ChatMessage[] {
  const { system, before, task, rounds, changedFiles, recall } = parts
  const standing = standingFailures(rounds.flat())
  const olderRounds = rounds.filter((_, at) => !selection.rounds.has(at))
  const olderBefore = before.slice(0, before.length - selection.before)
  return [
    ...system,
    ...summaryOf(olderBefore, { what: "turns of the conversation before the task", most }),
    ...before.slice(olderBefore.length).flat(),
    ...task,
    ...summaryOf(olderRounds, { what: "earlier rounds", most, brief, standing, changedFiles, recall }),
    ...rounds.filter((_, at) => selection.rounds.has(at)).flat(),
  ]
}

/** Where not even the last round fits: its results cut, then without it, with ever shorter summaries. */
function tightly(parts: Parts, fits: (messages: readonly ChatMessage[]) => boolean, room: number): ChatMessage[] {
  const last = parts.rounds.at(-1)
  for (let most = room; most >= 40; most = Math.floor(most / 2)) {
    const cut = last === undefined ? [] : [cutResults(last, most)]
    const tight = { ...parts, rounds: [...parts.rounds.slice(0, -1), ...cut] }
    const compacted = compact(tight, lastOf(parts.rounds.length, 0, cut.length), { most, brief: false })
    if (fits(compacted)) return compacted
  }
  const summarised = compact(parts, NOTHING_WHOLE, { most: Math.max(40, room), brief: false })
  return fits(summarised) ? summarised : [...parts.system, ...parts.task]
}

const NOTHING_WHOLE: Selection = { rounds: new Set(), before: 0 }

function tooLarge(needed: number, contextTokens: number): ToolwrightError {
  return new ToolwrightError(
    "CONTEXT_EXCEEDED",
    `The system prompt and the task alone take about ${needed} tokens; the model's window has ${contextTokens}.`,
    { hint: "Offer fewer tools, shorten the task, or use a model with a larger window." },
  )
}

function textOf(message: ChatMessage): string {
  const calls = message.role === "assistant" && message.toolCalls !== undefined ? JSON.stringify(message.toolCalls) : ""
  return message.content + calls
}

function quarterOfCharacters(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN)
}

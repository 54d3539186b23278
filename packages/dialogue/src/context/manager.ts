import type { ChatMessage } from "@toolwright/toolformat"

/** What a conversation is about, beside its messages. */
export interface AboutConversation {
  /** The current task: what the user asked last. History stands before it. */
  task?: string
  /** Files that calls of this task changed, those changed last at the end. */
  changedFiles?: readonly string[]
  /** Tokens that the request holds beside the messages, such as the definitions of tools. */
  besideTokens?: number
  /** Where what was left out can be read again, in words for the model; see `summaryOf`. */
  recall?: string
  /** Hears of each request how full the window is, and how much was left out of it. */
  report?: (use: ContextUse) => void
}

/** How full a request makes the window: up to a third, up to two, or more. */
export type Utilisation = "low" | "medium" | "full"

/** What a request takes of the window. */
export interface ContextUse {
  /** About so many, with what stands beside the messages. */
  tokens: number
  contextTokens: number
  utilisation: Utilisation
  /** Messages that are not sent as they were said, and how many there are. */
  leftOut: number
  messages: number
}

/**
 * Decides what of a conversation a model is sent. It gets the messages in neutral form, oldest first: the system
 * prompt, what was said before, the task, and the rounds since; it returns those to send. Calls and their results stay
 * together.
 */
export interface ContextManager {
  prepare(messages: readonly ChatMessage[], about?: AboutConversation): readonly ChatMessage[]
}

/** Sends everything. */
export const wholeContext: ContextManager = { prepare: (messages) => messages }

/**
 * What is kept of a conversation that grows too long. Whatever is left out, the system prompt, the task, the files
 * changed, the failures that stand and what the model said are told:
 *
 * - `summary`: the last few rounds, and a line for each call before them
 * - `last`: as many of the last rounds as fit, and nothing of the calls before them
 * - `priority`: the last few rounds, then those that failed, changed something or said something, then the newest
 *   others
 */
export const CONTEXT_STRATEGIES = ["summary", "last", "priority"] as const
export type ContextStrategy = (typeof CONTEXT_STRATEGIES)[number]

/** Settings of {@link compactingContext}. */
export interface CompactionOptions {
  /** `summary` unless given. */
  strategy?: ContextStrategy
  /** The model's window, in tokens. */
  contextTokens: number
  /** Share of the window at which older rounds are summarised; 0.75 unless given. */
  threshold?: number
  /** Rounds at the end that are kept whole; 3 unless given. With `last` as many at most, all that fit unless given. */
  keepRounds?: number
  /** Counts tokens; a quarter of the characters unless given. */
  countTokens?: (text: string) => number
}

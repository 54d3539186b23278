import type { ChatMessage } from "@toolwright/toolformat"

/**
 * Decides what of a conversation a model is sent. It gets the messages of a run, oldest first (system prompt and task
 * at the
 * front), and returns those to send. Calls and their results stay together.
 */
export interface ContextManager {
  prepare(messages: readonly ChatMessage[]): readonly ChatMessage[]
}

/** Sends everything. */
export const wholeContext: ContextManager = { prepare: (messages) => messages }

/** Settings of {@link compactingContext}. */
export interface CompactionOptions {
  /** The model's window, in tokens. */
  contextTokens: number
  /** Share of the window at which older rounds are summarised; 0.75 unless given. */
  threshold?: number
  /** Rounds at the end that are kept whole; 3 unless given. */
  keepRounds?: number
  /** Counts tokens; a quarter of the characters unless given. */
  countTokens?: (text: string) => number
}

/** How much of a server's answer is read; lengths are in characters. */
export interface ReplyLimits {
  /** One event of a stream. */
  event: number
  /** Events of one stream: about one for each token. */
  events: number
  /** All of a response in bytes, with what stands around the text: some 250 for each token. */
  stream: number
  /** A reply that comes as one JSON body. */
  body: number
  /** Text, reasoning and arguments of one reply together. */
  reply: number
  /** Calls in one reply. */
  calls: number
}

/** Far more than any model means to write, and little enough that a server which never stops does no harm. */
export const LIMITS: ReplyLimits = {
  event: 8 * 1024 * 1024,
  events: 1_000_000,
  stream: 64 * 1024 * 1024,
  body: 16 * 1024 * 1024,
  reply: 16 * 1024 * 1024,
  calls: 1024,
}

/** What is read of a failed response. */
export const LONGEST_ERROR = 64 * 1024

/** Milliseconds for which the text of a failed response is waited for. */
export const ERROR_TEXT_MS = 5000

/**
 * Milliseconds for which the end of a response is waited for after the last event of its stream, and how many pieces of
 * it.
 */
export const END_MS = 500
export const END_PIECES = 8

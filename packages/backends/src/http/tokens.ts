import { Latest, type JsonObject } from "@toolwright/toolbox"
import type { FailureContext } from "../failures.ts"
import { Retryable } from "./retry.ts"
import type { Client } from "./client.ts"
import { send, TextPieces } from "./transport.ts"
import { Watchdog } from "./watchdog.ts"

/** Where a server tells the tokens of a text, and how it is asked. */
export interface TokensPage {
  url: string
  body: (text: string) => JsonObject
  headers: Readonly<Record<string, string>>
  context: FailureContext
  client: Client
}

/** Tells the tokens of a text; undefined where the server does not. */
export type TokenReader = (text: string, options?: { signal?: AbortSignal }) => Promise<readonly number[] | undefined>

/** A run waits no longer than this for what only leans it. */
const TOKENS_MS = 5000
/** Beginnings of calls are short, and so are their tokens. */
const LONGEST_ANSWER = 1024 * 1024
/** Tools that a run offers, and then some. */
const MOST_KEPT = 1024

/**
 * Asks a server for the tokens of texts, each once. A server that has no such page is not asked again; one that is away
 * or busy is, with the next text.
 */
export function createTokenReader(page: TokensPage): TokenReader {
  const kept = new Latest<{ tokens?: readonly number[] }>(MOST_KEPT)
  let absent = false
  return async (text, { signal } = {}) => {
    if (absent) return undefined
    const known = kept.get(text, () => ({}))
    try {
      return (known.tokens ??= await ask(page, text, signal))
    } catch (thrown) {
      signal?.throwIfAborted()
      absent = !(thrown instanceof Retryable)
      return undefined
    }
  }
}

/** @throws what `send` throws, or an Error where the answer is none */
async function ask(page: TokensPage, text: string, signal: AbortSignal | undefined): Promise<readonly number[]> {
  const { url, body, headers, context, client } = page
  const watchdog = new Watchdog({ stallMs: TOKENS_MS, replyMs: TOKENS_MS }, context, signal)
  const answered = await send(client, url, { headers, body: JSON.stringify(body(text)) }, context, watchdog)
  const reading = new TextPieces(answered, context, watchdog, LONGEST_ANSWER)
  const pieces: string[] = []
  try {
    for (let piece = await reading.next(); piece !== undefined; piece = await reading.next()) pieces.push(piece)
  } finally {
    reading.leave(false)
  }
  const { tokens } = JSON.parse(pieces.join("")) as { tokens?: unknown }
  if (!Array.isArray(tokens) || !tokens.every((token) => Number.isSafeInteger(token) && token >= 0))
    throw new Error("the answer holds no tokens")
  return tokens as number[]
}

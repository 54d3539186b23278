import type { ServerResponse } from "node:http"
import type { Context } from "hono"

/** A text that is sent as it comes. */
export interface TextSource {
  /** Before the first piece; what is written in between is sent at once. */
  begin(write: (text: string) => void): void
  /** The next piece, once there is one; nothing at the end. */
  next(): Promise<string | undefined>
  /** The reader is gone. */
  cancel(): Promise<void>
}

/**
 * Where a handler leaves the text of its answer, so that it is written to the socket as it is: a body as the web has it
 * costs two queues and their promises for each piece, and its head a packet of its own.
 */
export interface Sink {
  source?: TextSource
}

/** The sink of a request, where whoever listens has given it one. */
export function sinkOf(context: Context): Sink | undefined {
  return (context.env as { sink?: Sink } | undefined)?.sink
}

/**
 * Writes an answer with the head that its handler gave it. No piece is asked for before the last one has been taken,
 * and none of a reader who is gone.
 */
export async function writeTo(outgoing: ServerResponse, response: Response, source: TextSource): Promise<void> {
  if (outgoing.closed || outgoing.destroyed) return void source.cancel().catch(() => {})
  let taken: (() => void) | undefined
  outgoing.on("drain", () => taken?.())
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) void source.cancel().catch(() => {})
    taken?.()
  })
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  source.begin((text) => void outgoing.write(text))
  for (;;) {
    const text = await source.next()
    if (outgoing.destroyed) return
    if (text === undefined) break
    if (!outgoing.write(text)) await new Promise<void>((resolve) => (taken = resolve))
  }
  outgoing.end()
}

import type { UnderlyingSource } from "node:stream/web"
import { failureOf } from "./failures.ts"
import type { GatewayEvent, ReplyHead, StreamWriter, WholeReply, WireRequest } from "./wire.ts"

/** After so long without a word a waiting client is told that the answer still comes. */
const ALIVE_MS = 10_000

/** What an answer is made of. */
export interface Steps {
  events: AsyncGenerator<GatewayEvent, void>
  /** The client is gone: ends what is under way. */
  leave(): void
}

/**
 * Answers with a stream of events or one body.
 *
 * @throws what the events throw before the first of them: the status can still say it
 */
export async function respond(
  wire: WireRequest,
  steps: Steps,
  head: ReplyHead,
  headers: Record<string, string>,
): Promise<Response> {
  if (!wire.request.stream) return Response.json(wire.whole(head, await gather(steps.events)), { headers })
  return streamed(wire, await steps.events.next(), steps, head, headers)
}

async function gather(events: AsyncIterable<GatewayEvent>): Promise<WholeReply> {
  const texts: string[] = []
  const thoughts: string[] = []
  const reply: WholeReply = {
    text: "",
    reasoning: "",
    calls: [],
    notes: [],
    finishReason: "unknown",
    usage: undefined,
  }
  for await (const event of events) {
    if (event.type === "text-delta") texts.push(event.text)
    else if (event.type === "reasoning-delta") thoughts.push(event.text)
    else if (event.type === "call") reply.calls.push(event.call)
    else if (event.type === "note") reply.notes.push(event.note)
    else if (event.type === "end") {
      reply.finishReason = event.finishReason
      reply.usage = event.usage
      if (event.stoppedAt !== undefined) reply.stoppedAt = event.stoppedAt
    }
  }
  return { ...reply, text: texts.join(""), reasoning: thoughts.join("") }
}

/** Nothing is asked of the model that the client has no room for. */
function streamed(
  wire: WireRequest,
  first: IteratorResult<GatewayEvent, void>,
  steps: Steps,
  head: ReplyHead,
  headers: Record<string, string>,
): Response {
  const writer = wire.streamed(head)
  const body = new ReadableStream<Uint8Array>(new StreamedReply(writer, first, steps), { highWaterMark: 0 })
  const named = { "content-type": writer.contentType, "cache-control": "no-cache", "x-accel-buffering": "no" }
  return new Response(body, { headers: { ...named, ...headers } })
}

/** The bytes of a streamed answer, as the client takes them. */
class StreamedReply implements UnderlyingSource<Uint8Array> {
  readonly #writer: StreamWriter
  readonly #steps: Steps
  readonly #encoder = new TextEncoder()
  #ahead: IteratorResult<GatewayEvent, void> | undefined
  #begun = false
  #alive: NodeJS.Timeout | undefined
  /** When the client began to wait for the next piece. */
  #waiting: number | undefined

  constructor(writer: StreamWriter, first: IteratorResult<GatewayEvent, void>, steps: Steps) {
    this.#writer = writer
    this.#ahead = first
    this.#steps = steps
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#alive = setInterval(() => {
      if (this.#waiting === undefined || performance.now() - this.#waiting < ALIVE_MS) return
      this.#waiting = performance.now()
      controller.enqueue(this.#encoder.encode(this.#writer.alive()))
    }, ALIVE_MS / 2)
    this.#alive.unref()
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#waiting = performance.now()
    let text: string | undefined
    let over = false
    try {
      text = await this.#piece()
      over = text === undefined
    } catch (thrown) {
      text = this.#writer.fail(failureOf(thrown))
      over = true
    }
    this.#waiting = undefined
    if (text !== undefined) controller.enqueue(this.#encoder.encode(text))
    if (!over) return
    clearInterval(this.#alive)
    controller.close()
  }

  async cancel(): Promise<void> {
    clearInterval(this.#alive)
    this.#steps.leave()
    await this.#steps.events.return(undefined)
  }

  /** The next text to send; nothing at the end. */
  async #piece(): Promise<string | undefined> {
    if (!this.#begun) {
      this.#begun = true
      return this.#writer.begin()
    }
    for (;;) {
      const step = this.#ahead ?? (await this.#steps.events.next())
      this.#ahead = undefined
      if (step.done === true) return undefined
      const text = this.#writer.event(step.value)
      if (text !== "") return text
    }
  }
}

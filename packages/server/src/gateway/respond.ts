import type { UnderlyingSource } from "node:stream/web"
import type { Sink, TextSource } from "../http/sink.ts"
import { failureOf } from "./failures.ts"
import type { GatewayEvent, ReplyHead, StreamWriter, WholeReply, WireRequest } from "./wire.ts"

/** After so long without a word a waiting client is told that the answer still comes. */
const ALIVE_MS = 10_000

/** What an answer is made of. */
export interface Steps {
  /** Those that came together at once. */
  events: AsyncGenerator<readonly GatewayEvent[], void>
  /** The client is gone: ends what is under way. */
  leave(): void
}

/** What an answer says of itself, and where it is written to. */
export interface Answered {
  head: ReplyHead
  headers: Record<string, string>
  sink: Sink | undefined
}

/**
 * Answers with a stream of events or one body.
 *
 * @throws what the events throw before the first of them: the status can still say it
 */
export async function respond(wire: WireRequest, steps: Steps, answered: Answered): Promise<Response> {
  const { head, headers } = answered
  if (!wire.request.stream) return Response.json(wire.whole(head, await gather(steps.events)), { headers })
  return streamed(wire, await steps.events.next(), steps, answered)
}

async function gather(steps: AsyncIterable<readonly GatewayEvent[]>): Promise<WholeReply> {
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
  for await (const events of steps)
    for (const event of events) {
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
  first: IteratorResult<readonly GatewayEvent[], void>,
  steps: Steps,
  { head, headers, sink }: Answered,
): Response {
  const writer = wire.streamed(head)
  const named = { "content-type": writer.contentType, "cache-control": "no-cache", "x-accel-buffering": "no" }
  const source = new StreamedReply(writer, first, steps)
  if (sink !== undefined) {
    sink.source = source
    return new Response(null, { headers: { ...named, ...headers } })
  }
  const body = new ReadableStream<Uint8Array>(new BytesOf(source), { highWaterMark: 0 })
  return new Response(body, { headers: { ...named, ...headers } })
}

/** The text of a streamed answer, as the client takes it. */
class StreamedReply implements TextSource {
  readonly #writer: StreamWriter
  readonly #steps: Steps
  #ahead: IteratorResult<readonly GatewayEvent[], void> | undefined
  #begun = false
  #over = false
  #alive: NodeJS.Timeout | undefined
  /** When the client began to wait for the next piece. */
  #waiting: number | undefined

  constructor(writer: StreamWriter, first: IteratorResult<readonly GatewayEvent[], void>, steps: Steps) {
    this.#writer = writer
    this.#ahead = first
    this.#steps = steps
  }

  begin(write: (text: string) => void): void {
    this.#alive = setInterval(() => {
      if (this.#waiting === undefined || performance.now() - this.#waiting < ALIVE_MS) return
      this.#waiting = performance.now()
      write(this.#writer.alive())
    }, ALIVE_MS / 2)
    this.#alive.unref()
  }

  async next(): Promise<string | undefined> {
    if (this.#over) return undefined
    this.#waiting = performance.now()
    let text: string | undefined
    try {
      text = await this.#piece()
      this.#over = text === undefined
    } catch (thrown) {
      text = this.#writer.fail(failureOf(thrown))
      this.#over = true
    }
    this.#waiting = undefined
    if (this.#over) clearInterval(this.#alive)
    return text
  }

  async cancel(): Promise<void> {
    clearInterval(this.#alive)
    this.#over = true
    this.#steps.leave()
    await this.#steps.events.return(undefined)
  }

  /** The next text to send; nothing at the end. */
  async #piece(): Promise<string | undefined> {
    let text = this.#begun ? "" : this.#writer.begin()
    this.#begun = true
    for (;;) {
      const step = this.#ahead ?? (await this.#steps.events.next())
      this.#ahead = undefined
      if (step.done === true) return text === "" ? undefined : text
      for (const event of step.value) text += this.#writer.event(event)
      if (text !== "") return text
    }
  }
}

/** The same as bytes, where there is no socket to write to. */
class BytesOf implements UnderlyingSource<Uint8Array> {
  readonly #source: TextSource
  readonly #encoder = new TextEncoder()

  constructor(source: TextSource) {
    this.#source = source
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#source.begin((text) => controller.enqueue(this.#encoder.encode(text)))
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const text = await this.#source.next()
    if (text === undefined) controller.close()
    else controller.enqueue(this.#encoder.encode(text))
  }

  cancel(): Promise<void> {
    return this.#source.cancel()
  }
}

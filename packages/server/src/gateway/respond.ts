import type { UnderlyingSource } from "node:stream/web"
import { failureOf } from "./failures.ts"
import type { GatewayEvent, ReplyHead, StreamWriter, WholeReply, WireRequest } from "./wire.ts"

/** After so long without a word a waiting client is told that the answer still comes. */
const ALIVE_MS = 10_000

/** Characters from which a piece is sent, whatever else is there. */
const LONGEST_PIECE = 16_384

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
  /** The next step, where it was asked for already. */
  #ahead: Promise<IteratorResult<GatewayEvent, void>> | undefined
  #begun = false
  #over = false
  #alive: NodeJS.Timeout | undefined
  /** When the client began to wait for the next piece. */
  #waiting: number | undefined

  constructor(writer: StreamWriter, first: IteratorResult<GatewayEvent, void>, steps: Steps) {
    this.#writer = writer
    this.#ahead = Promise.resolve(first)
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
    let text: string
    try {
      text = await this.#piece()
    } catch (thrown) {
      text = this.#writer.fail(failureOf(thrown))
      this.#over = true
    }
    this.#waiting = undefined
    if (text !== "") controller.enqueue(this.#encoder.encode(text))
    if (!this.#over) return
    clearInterval(this.#alive)
    controller.close()
  }

  async cancel(): Promise<void> {
    clearInterval(this.#alive)
    this.#steps.leave()
    await this.#steps.events.return(undefined)
  }

  /** What there is to send by now, in one piece: a write for every token costs more than all else. */
  async #piece(): Promise<string> {
    let text = this.#begun ? "" : this.#writer.begin()
    this.#begun = true
    const turn = new Promise<false>((resolve) => setImmediate(resolve, false))
    while (text === "" || (text.length < LONGEST_PIECE && (await this.#isThere(turn)))) {
      const step = await this.#next()
      if (step.done === true) {
        this.#over = true
        break
      }
      text += this.#writer.event(step.value)
    }
    return text
  }

  #asked(): Promise<IteratorResult<GatewayEvent, void>> {
    return (this.#ahead ??= this.#steps.events.next())
  }

  async #next(): Promise<IteratorResult<GatewayEvent, void>> {
    try {
      return await this.#asked()
    } finally {
      this.#ahead = undefined
    }
  }

  /** Whether the next step comes before the turn ends. One that failed is told when it is taken, behind what there is. */
  #isThere(turn: Promise<false>): Promise<boolean> {
    const there = this.#asked().then(
      () => true,
      () => false,
    )
    return Promise.race([there, turn])
  }
}

import { failureOf } from "./failures.ts"
import type { GatewayEvent, ReplyHead, WholeReply, WireRequest } from "./wire.ts"

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
    }
  }
  return { ...reply, text: texts.join(""), reasoning: thoughts.join("") }
}

/** Nothing is asked of the model that the client has no room for. */
function streamed(
  wire: WireRequest,
  first: IteratorResult<GatewayEvent, void>,
  { events, leave }: Steps,
  head: ReplyHead,
  headers: Record<string, string>,
): Response {
  const writer = wire.streamed(head)
  const encoder = new TextEncoder()
  let ahead: IteratorResult<GatewayEvent, void> | undefined = first
  let begun = false
  let alive: NodeJS.Timeout | undefined
  /** When the client began to wait for the next piece. */
  let waiting: number | undefined

  /** The next text to send; nothing at the end. */
  async function piece(): Promise<string | undefined> {
    if (!begun) {
      begun = true
      return writer.begin()
    }
    for (;;) {
      const step = ahead ?? (await events.next())
      ahead = undefined
      if (step.done === true) return undefined
      const text = writer.event(step.value)
      if (text !== "") return text
    }
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        alive = setInterval(() => {
          if (waiting === undefined || performance.now() - waiting < ALIVE_MS) return
          waiting = performance.now()
          controller.enqueue(encoder.encode(writer.alive()))
        }, ALIVE_MS / 2)
        alive.unref()
      },
      async pull(controller) {
        waiting = performance.now()
        let text: string | undefined
        let over = false
        try {
          text = await piece()
          over = text === undefined
        } catch (thrown) {
          text = writer.fail(failureOf(thrown))
          over = true
        }
        waiting = undefined
        if (text !== undefined) controller.enqueue(encoder.encode(text))
        if (!over) return
        clearInterval(alive)
        controller.close()
      },
      async cancel() {
        clearInterval(alive)
        leave()
        await events.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )
  const named = { "content-type": writer.contentType, "cache-control": "no-cache", "x-accel-buffering": "no" }
  return new Response(body, { headers: { ...named, ...headers } })
}

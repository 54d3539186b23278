import { messageOf, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { endingOf } from "../gateway/agent-run.ts"

/** A piece of the stream that `useChat` of the AI SDK reads, of its versions 5 to 7. */
export type UiMessageChunk = { type: string } & Record<string, unknown>

/**
 * What happens in a run, as the user interface of the AI SDK reads it: a message of text, reasoning, calls and results.
 * How the run ended stands in the message's metadata (`runId`, `outcome`, `success`); where it failed there is an error
 * beside it, and where it did not end well and the model does not say so, a last paragraph does.
 */
export async function* uiMessageChunks(run: AsyncIterable<RunEvent>): AsyncGenerator<UiMessageChunk, void> {
  const told = new Told()
  yield { type: "start" }
  try {
    for await (const event of run) yield* told.hear(event)
  } catch (thrown) {
    yield* told.close()
    yield { type: "error", errorText: messageOf(thrown) }
  }
  yield { type: "finish" }
}

/**
 * The answer to a request of `useChat`. Whoever goes away ends the run, the model's request and its record.
 *
 * @example
 * const { task, history } = fromUiMessages(await request.json())
 * return uiMessageResponse(toolwright.run(task, { history }))
 */
export function uiMessageResponse(run: AsyncIterable<RunEvent>): Response {
  const chunks = uiMessageChunks(run)
  const encoder = new TextEncoder()
  const line = (text: string): Uint8Array => encoder.encode(`data: ${text}\n\n`)
  const body = new ReadableStream<Uint8Array>({
    async pull(stream) {
      const { done, value } = await chunks.next()
      stream.enqueue(line(done === true ? "[DONE]" : JSON.stringify(value)))
      if (done === true) stream.close()
    },
    async cancel() {
      await chunks.return()
    },
  })
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-cache",
      "x-vercel-ai-ui-message-stream": "v1",
      // Proxies that gather answers would hold it back.
      "x-accel-buffering": "no",
    },
  })
}

/** What was told so far, and is still open. */
class Told {
  #open: { kind: "text" | "reasoning"; id: string } | undefined
  #parts = 0
  #said = ""
  readonly #refused = new Map<string, unknown>();

  *hear(event: RunEvent): Generator<UiMessageChunk, void> {
    switch (event.type) {
      case "run-start":
        return yield { type: "message-metadata", messageMetadata: { runId: event.runId } }
      case "round-start":
        return yield { type: "start-step" }
      case "text-delta":
        this.#said += event.text
        return yield* this.#piece("text", event.text)
      case "reasoning-delta":
        return yield* this.#piece("reasoning", event.text)
      case "tool-start":
        return yield* this.#called(event)
      case "tool-end":
        return yield* this.#answered(event)
      case "round-end":
        yield* this.close()
        return yield { type: "finish-step" }
      case "run-end":
        return yield* this.#end(event.summary)
      default:
    }
  }

  /** Ends the part that is under way. */
  *close(): Generator<UiMessageChunk, void> {
    if (this.#open === undefined) return
    const { kind, id } = this.#open
    this.#open = undefined
    yield { type: `${kind}-end`, id }
  }

  *#piece(kind: "text" | "reasoning", delta: string): Generator<UiMessageChunk, void> {
    if (this.#open?.kind !== kind) {
      yield* this.close()
      this.#open = { kind, id: String(++this.#parts) }
      yield { type: `${kind}-start`, id: this.#open.id }
    }
    yield { type: `${kind}-delta`, id: this.#open.id, delta }
  }

  *#called({
    callId,
    name,
    arguments: input,
    refused,
  }: Extract<RunEvent, { type: "tool-start" }>): Generator<UiMessageChunk, void> {
    yield* this.close()
    // Why nothing ran for it is known at its end.
    if (refused === true) this.#refused.set(callId, input)
    else yield { type: "tool-input-available", toolCallId: callId, toolName: name, input }
  }

  *#answered({ callId, name, result }: Extract<RunEvent, { type: "tool-end" }>): Generator<UiMessageChunk, void> {
    const { success, data, output, error } = result
    const errorText = error?.message ?? output
    if (this.#refused.has(callId)) {
      const input = this.#refused.get(callId)
      yield { type: "tool-input-error", toolCallId: callId, toolName: name, input, errorText }
    } else if (success) yield { type: "tool-output-available", toolCallId: callId, output: data ?? output }
    else yield { type: "tool-output-error", toolCallId: callId, errorText }
  }

  *#end(summary: RunSummary): Generator<UiMessageChunk, void> {
    const { runId, outcome, success, message } = summary
    const said = outcome === "failed" ? undefined : endingOf(summary, this.#said)
    if (said !== undefined) yield* this.#piece("text", said)
    yield* this.close()
    yield { type: "message-metadata", messageMetadata: { runId, outcome, success } }
    if (outcome === "cancelled") yield { type: "abort" }
    if (outcome === "failed" || outcome === "max-rounds") yield { type: "error", errorText: message }
  }
}

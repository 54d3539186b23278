import type { Context } from "hono"
import { streamSSE } from "hono/streaming"
import type { ToolEvent } from "@toolwright/toolbox"
import type { Answer } from "./call.ts"

/** Milliseconds between the comments that keep an event stream open. */
const HEARTBEAT_MS = 15_000

/** The progress of a call, for one reader: who reads slowly misses steps, and nothing piles up. */
export class Progress {
  #latest: string | undefined
  #wake: (() => void) | undefined
  #over = false

  hear(event: ToolEvent): void {
    if (event.type !== "tool-progress") return
    const { message, progress, total } = event
    this.#latest = JSON.stringify({ message, progress, total })
    this.#wake?.()
  }

  end(): void {
    this.#over = true
    this.#wake?.()
  }

  /** The latest step, each time that there is a new one, until the end. */
  async *steps(): AsyncGenerator<string> {
    for (;;) {
      const step = this.#latest
      this.#latest = undefined
      if (step !== undefined) yield step
      else if (this.#over) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

/** Sends the progress of a call as events, and its answer as the last one. */
export function streamCall(context: Context, answer: Promise<Answer>, progress: Progress): Response {
  // Whatever becomes of it is told by the last event.
  void answer.finally(() => progress.end()).catch(() => {})
  return streamSSE(context, async (stream) => {
    let writing: Promise<unknown> | undefined
    const heartbeat = setInterval(() => {
      writing ??= stream.write(": still running\n\n").finally(() => (writing = undefined))
    }, HEARTBEAT_MS)
    try {
      for await (const data of progress.steps()) await stream.writeSSE({ event: "progress", data })
    } finally {
      clearInterval(heartbeat)
    }
    await stream.writeSSE({ event: "result", data: (await answer).text })
  })
}

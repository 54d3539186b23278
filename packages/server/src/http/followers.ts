import type { Context } from "hono"
import { streamSSE } from "hono/streaming"
import { CallGate } from "@toolwright/toolbox"
import type { RequestVariables } from "./guard.ts"
import { problem } from "./problem.ts"

type Request = Context<{ Variables: RequestVariables }>

const MOST = 256
const HEARTBEAT_MS = 15_000

/** What a follower is told; each is sent once the one before was taken. */
export interface Telling {
  event(event: { id?: string; event: string; data: string }): Promise<void>
  /** Aborted once the follower is gone. */
  readonly left: AbortSignal
}

/** How many may follow at once. */
export interface FollowersOptions {
  /** Whether callers are told apart: then one holds at most half of the seats. */
  apart: boolean
  most?: number
}

/**
 * Those who follow runs, tasks and plans as they happen. One caller cannot hold all their seats, and nothing piles up
 * for who does not read: the next event waits until the last was taken, and the connection ends where that takes too
 * long.
 */
export class Followers {
  readonly #seats: CallGate

  constructor({ apart, most = MOST }: FollowersOptions) {
    this.#seats = new CallGate({ maxCalls: most, maxCallsPerCaller: apart ? Math.ceil(most / 2) : most })
  }

  /** Streams what `tell` tells, or says that no seat is free. */
  follow(context: Request, tell: (telling: Telling) => Promise<void>): Response {
    const entered = this.#seats.enter(context.get("caller"))
    if ("refused" in entered)
      return problem({
        code: "TOO_MANY_CALLS",
        message: "Too much is being followed already.",
        hint: "Close a page, or ask again in a moment.",
      })
    return streamSSE(context, async (stream) => {
      const gone = new AbortController()
      stream.onAbort(() => gone.abort())
      let beating: Promise<unknown> | undefined
      const heartbeat = setInterval(() => {
        beating ??= stream.write(": still here\n\n").finally(() => (beating = undefined))
      }, HEARTBEAT_MS)
      try {
        const left = AbortSignal.any([context.req.raw.signal, gone.signal])
        await tell({ event: (event) => stream.writeSSE(event), left })
      } finally {
        clearInterval(heartbeat)
        entered.leave()
      }
    })
  }
}

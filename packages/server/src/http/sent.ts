import type { ServerResponse } from "node:http"
import type { Context } from "hono"
import { createMiddleware } from "hono/factory"
import { CallGate } from "@toolwright/toolbox"
import type { RequestVariables } from "./guard.ts"
import { refusedBy } from "./refusal.ts"

/**
 * Calls back once the answer to a request has been sent or its reader is gone; at once where there is no socket, as in
 * tests.
 */
export function whenSent(context: Context, then: () => void): void {
  const { outgoing } = (context.env ?? {}) as { outgoing?: ServerResponse }
  if (outgoing === undefined || outgoing.closed) return then()
  outgoing.once("close", then)
}

/** A text as the answer, accounted for until it has been read; none where too much waits already. */
export function sendText(
  context: Context<{ Variables: RequestVariables }>,
  gate: CallGate,
  text: string,
  headers: Record<string, string>,
): Response {
  const held = gate.hold(context.get("caller"))
  if (!held.grow(text.length)) {
    held.release()
    return refusedBy(CallGate.busy)
  }
  whenSent(context, () => held.release())
  return new Response(text, { headers })
}

/** Lets requests in as calls, until their answer has been read. */
export const entering = (gate: CallGate) =>
  createMiddleware<{ Variables: RequestVariables }>(async (context, next) => {
    const entered = gate.enter(context.get("caller"))
    if ("refused" in entered) return refusedBy(entered.refused)
    try {
      await next()
    } finally {
      whenSent(context, () => entered.leave())
    }
    return undefined
  })

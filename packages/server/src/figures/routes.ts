import type { Hono } from "hono"
import type { CallGate } from "@toolwright/toolbox"
import type { RequestVariables } from "../http/guard.ts"
import { sendText } from "../http/sent.ts"
import type { RunSource } from "../http/sources.ts"
import { whole } from "../http/whole.ts"
import { figuresOf } from "./figures.ts"
import type { Figures } from "./shapes.ts"

const DAY_MS = 24 * 60 * 60 * 1000
const MOST_PARTS = 400
const LATEST = 8.64e15

/** `GET /figures?from=&to=&parts=` counts runs, calls, tokens and times; the last day unless a span is given. */
export function figuresRoute<Variables extends RequestVariables>(
  app: Hono<{ Variables: Variables }>,
  source: RunSource,
  gate: CallGate,
): void {
  app.get("/figures", async (context) => {
    const { from, to, parts } = context.req.query()
    const end = whole(to, Date.now(), 1, LATEST)
    const span = {
      from: Math.min(end - 1, whole(from, end - DAY_MS, 0, LATEST)),
      to: end,
      parts: whole(parts, 48, 1, MOST_PARTS),
    }
    const log = await source.look()
    const figures: Figures =
      log === undefined
        ? { ...span, step: 0, over: [], tools: [], models: [], formats: [], runs: 0, more: false, looked: 0 }
        : await figuresOf(log.database, span)
    return sendText(context as never, gate, JSON.stringify(figures), {
      "content-type": "application/json",
      "cache-control": "no-store",
    })
  })
}

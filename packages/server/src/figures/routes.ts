import type { Hono } from "hono"
import type { CallGate } from "@toolwright/toolbox"
import type { RequestVariables } from "../http/guard.ts"
import { sendText } from "../http/sent.ts"
import type { RunSource } from "../http/sources.ts"
import { whole } from "../http/whole.ts"
import { figuresOf } from "./figures.ts"
import type { Figures } from "./shapes.ts"
import type { Prices } from "./tally.ts"

const DAY_MS = 24 * 60 * 60 * 1000
const MOST_PARTS = 400
const MOST_SERIES = 20
const LATEST = 8.64e15

/**
 * `GET /figures?from=&to=&parts=&series=` counts runs, calls, tokens, cost and times, over time and by tool, model and
 * format; the last day unless a span is given, and so many of each over time as `series` says.
 */
export function figuresRoute<Variables extends RequestVariables>(
  app: Hono<{ Variables: Variables }>,
  source: RunSource,
  { gate, prices }: { gate: CallGate; prices?: Prices | undefined },
): void {
  app.get("/figures", async (context) => {
    const { from, to, parts, series } = context.req.query()
    const end = whole(to, Date.now(), 1, LATEST)
    const span = {
      from: Math.min(end - 1, whole(from, end - DAY_MS, 0, LATEST)),
      to: end,
      parts: whole(parts, 48, 1, MOST_PARTS),
      series: whole(series, 0, 0, MOST_SERIES),
    }
    const log = await source.look()
    const figures: Figures =
      log === undefined
        ? {
            from: span.from,
            to: span.to,
            step: 0,
            over: [],
            tools: [],
            models: [],
            formats: [],
            runs: 0,
            more: false,
            looked: 0,
          }
        : await figuresOf(log.database, span, prices)
    return sendText(context as never, gate, JSON.stringify(figures), {
      "content-type": "application/json",
      "cache-control": "no-store",
    })
  })
}

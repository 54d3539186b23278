import type { Figures } from "@toolwright/server"
import { keepPreviousData, queryOptions } from "@tanstack/react-query"
import { get } from "../lib/api.ts"

export type { Figures, FiguresRow, FiguresSeries } from "@toolwright/server"

/** So many tools and models are drawn over time. */
export const MOST_LINES = 6

const HOUR_MS = 3_600_000

/** How far back is looked, and into how many parts that is cut. */
export const SPANS = {
  hour: { ms: HOUR_MS, parts: 60, name: "the last hour" },
  day: { ms: 24 * HOUR_MS, parts: 48, name: "the last day" },
  week: { ms: 7 * 24 * HOUR_MS, parts: 56, name: "the last week" },
  month: { ms: 30 * 24 * HOUR_MS, parts: 60, name: "the last 30 days" },
} as const
export type Span = keyof typeof SPANS

export function figuresQuery(span: Span) {
  return queryOptions({
    queryKey: ["figures", span],
    queryFn: ({ signal }) => {
      const { ms, parts } = SPANS[span]
      const to = Date.now()
      return get<Figures>(`figures?from=${to - ms}&to=${to}&parts=${parts}&series=${MOST_LINES}`, signal)
    },
    refetchInterval: 10_000,
    placeholderData: keepPreviousData,
  })
}

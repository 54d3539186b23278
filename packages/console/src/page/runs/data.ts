import type { RunDetail, RunList } from "@toolwright/server"
import { queryOptions } from "@tanstack/react-query"
import { get } from "../lib/api.ts"

export type { EventBody, EventDigest, EventPage, KeptText, RunDetail, RunDigest, RunList } from "@toolwright/server"

/** Which runs are asked for. */
export interface RunFilter {
  text?: string
  tool?: string
  limit?: number
}

/** Asked again as long as somebody looks, more often while something runs. */
export function runsQuery(filter: RunFilter) {
  const search = new URLSearchParams(
    Object.entries(filter).flatMap(([name, value]) =>
      value === undefined || value === "" ? [] : [[name, String(value)]],
    ),
  )
  return queryOptions({
    queryKey: ["runs", filter],
    queryFn: ({ signal }) => get<RunList>(`runs?${search}`, signal),
    refetchInterval: ({ state }) =>
      state.data?.runs.some(({ status }) => status === "running") === true ? 1500 : 5000,
  })
}

export function runQuery(id: string) {
  return queryOptions({
    queryKey: ["run", id],
    queryFn: ({ signal }) => get<RunDetail>(`runs/${encodeURIComponent(id)}`, signal),
    // One that waits goes on in another process, perhaps; one that runs tells of itself, as long as its holder lives.
    refetchInterval: ({ state }) =>
      ["waiting", "running", "interrupted"].includes(state.data?.status ?? "") ? 2000 : (false as const),
  })
}

import type { ApprovalView } from "@toolwright/server"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { ApiError, get } from "../lib/api.ts"

export type { ApprovalView } from "@toolwright/server"

const EVERY_MS = 2000

/** The questions that wait. A server that nobody asks has no such list: it is then not asked again. */
export const pendingQuery = queryOptions({
  queryKey: ["approvals", "pending"],
  queryFn: ({ signal }) => get<ApprovalView[]>("approvals", signal),
  retry: false,
  refetchInterval: ({ state }) => (state.error instanceof ApiError ? false : EVERY_MS),
})

export const allQuery = queryOptions({
  queryKey: ["approvals", "all"],
  queryFn: ({ signal }) => get<ApprovalView[]>("approvals?state=all", signal),
  retry: false,
  refetchInterval: ({ state }) => (state.error instanceof ApiError ? false : EVERY_MS * 2),
})

/** The questions that wait of one run, and of those that its calls asked for: it waits for these too. */
export function useQuestionsOf(run: string): ApprovalView[] {
  return (useQuery(pendingQuery).data ?? []).filter((question) => question.run === run || question.above.includes(run))
}

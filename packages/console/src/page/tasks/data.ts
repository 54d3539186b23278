import type { TaskView } from "@toolwright/server"
import { useMutation, useQueryClient, queryOptions } from "@tanstack/react-query"
import { get, post } from "../lib/api.ts"

export type { TaskView } from "@toolwright/server"

/** Under way, or waiting for something. */
export const OPEN_STATES: ReadonlySet<string> = new Set(["queued", "waiting", "running", "needs-approval"])
export const STATES = [
  "queued",
  "waiting",
  "running",
  "needs-approval",
  "done",
  "failed",
  "blocked",
  "cancelled",
  "abandoned",
] as const satisfies readonly TaskView["state"][]

export const PAGE = 500

export interface TaskFilterText {
  state?: string
  agent?: string
  plan?: string
}

export async function tasksPage(
  filter: TaskFilterText,
  offset: number,
  signal: AbortSignal,
): Promise<{ tasks: TaskView[] }> {
  const search = new URLSearchParams({ limit: String(PAGE), offset: String(offset) })
  for (const [name, value] of Object.entries(filter)) if (value !== "") search.set(name, String(value))
  return get(`tasks?${search}`, signal)
}

export const statsQuery = queryOptions({
  queryKey: ["tasks", "stats"],
  queryFn: ({ signal }) => get<{ tasks: Record<string, number> }>("tasks/stats", signal),
  refetchInterval: 3000,
})

export function taskQuery(id: string) {
  return queryOptions({
    queryKey: ["task", id],
    queryFn: ({ signal }) => get<TaskView>(`tasks/${encodeURIComponent(id)}`, signal),
    refetchInterval: ({ state }) =>
      state.data === undefined || OPEN_STATES.has(state.data.state) ? 1000 : (false as const),
  })
}

/** Cancels a task and all below it, or all tasks of a plan, or has them tried again. */
export function useChange(what: "tasks" | "plans", id: string) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (how: "cancel" | "retry") => post(`${what}/${encodeURIComponent(id)}/${how}`, {}),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ["tasks"] })
      await queries.invalidateQueries({ queryKey: ["task"] })
    },
  })
}

/** What is to be done, in words. */
export function titleOf({ input }: Pick<TaskView, "input">): string {
  if (typeof input === "string") return input
  const { task, resolves } = (input ?? {}) as { task?: unknown; resolves?: unknown }
  if (typeof resolves === "string") return `Put a conflict of ${resolves} right`
  return typeof task === "string" ? task : JSON.stringify(input)
}

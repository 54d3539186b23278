import type { Database } from "../database/database.ts"
import type { SqlValue } from "../database/driver.ts"
import type { TaskState } from "../tables.ts"
import type { PlanCounts } from "./task.ts"

/**
 * Tasks of plans that are read at a time, and how often at most: a plan that has more tasks than all that hides others.
 */
const TASKS_READ = 500
const MOST_READS = 100

/** The plans that the newest tasks belong to. */
async function newestPlans(database: Database, limit: number): Promise<string[]> {
  const found = new Set<string>()
  let after: readonly SqlValue[] = [Number.MAX_SAFE_INTEGER, ""]
  for (let reads = 0; reads < MOST_READS && found.size < limit; reads++) {
    const rows = await database.query<{ plan: string; created_at: number; id: string }>(
      `SELECT plan, created_at, id FROM tasks WHERE plan IS NOT NULL AND (created_at, id) < (?, ?)
       ORDER BY created_at DESC, id DESC LIMIT ?`,
      [...after, TASKS_READ],
    )
    for (const { plan } of rows) found.add(plan)
    const last = rows.at(-1)
    if (last === undefined || rows.length < TASKS_READ) break
    after = [last.created_at, last.id]
  }
  return [...found].slice(0, limit)
}

/** The newest plans, with how many of their tasks are in which state. */
export async function plansIn(database: Database, limit: number): Promise<PlanCounts[]> {
  const newest = await newestPlans(database, limit)
  if (newest.length === 0) return []
  const rows = await database.query<{ plan: string; state: TaskState; count: number; begun: number }>(
    `SELECT plan, state, COUNT(*) AS count, MIN(created_at) AS begun FROM tasks
     WHERE plan IN (${newest.map(() => "?").join()}) GROUP BY plan, state`,
    newest,
  )
  const plans = [...Map.groupBy(rows, ({ plan }) => plan)].map(([plan, counted]) => ({
    plan,
    begun: Math.min(...counted.map(({ begun }) => Number(begun))),
    states: Object.fromEntries(counted.map(({ state, count }) => [state, Number(count)])),
  }))
  return plans.toSorted((a, b) => b.begun - a.begun || (a.plan < b.plan ? -1 : 1))
}

import { conversationStore, type SqlValue } from "@toolwright/store"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { wholeService } from "./testing/whole-service.ts"

const MANY = 100_000
const NUMBERS = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${MANY - 1})`
/** A hundred at each moment, so that many stand at the same time. */
const AT = "1700000000000 + i / 100"

type Service = Awaited<ReturnType<typeof wholeService>>
let service: Service

beforeAll(async () => {
  service = await wholeService()
  const { query } = service.database
  await query(`INSERT INTO tasks (id, plan, agent, input, state, created_at, updated_at) ${NUMBERS}
    SELECT printf('task-%06d', i), CASE WHEN i % 2 = 0 THEN printf('plan-%05d', i / 20) END,
      'coder', '{}', 'done', ${AT}, ${AT} FROM n`)
  await query(`INSERT INTO runs (id, agent, model, title, surface, state, outcome, started_at, ended_at) ${NUMBERS}
    SELECT printf('run-%06d', i), CASE WHEN i % 2 = 0 THEN '' ELSE 'assistant' END, 'm', 'echo', 'cli', 'ended',
      'completed', ${AT}, ${AT} FROM n`)
  await query(`UPDATE runs SET surface = 'eval' WHERE id IN ('run-000007', 'run-000008')`)
  await query(`INSERT INTO approvals (id, tool, arguments, arguments_hash, policy, state, created_at) ${NUMBERS}
    SELECT printf('question-%06d', i), 't', '{}', 'h', 'p', 'allowed', ${AT} FROM n`)
  await query(`INSERT INTO conversations (id, title, created_at, updated_at, owner) ${NUMBERS}
    SELECT printf('talk-%06d', i), 't', '2026-01-01', '2026-01-01', CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END FROM n`)
})
afterAll(() => service.database.close())

/** What was asked of the database meanwhile, and the most rows that one answer had. */
async function statementsOf(work: () => Promise<unknown>) {
  const { database } = service
  const { query } = database
  const asked: { sql: string; values: readonly SqlValue[] }[] = []
  let rows = 0
  database.query = async <Row>(sql: string, values: readonly SqlValue[] = []) => {
    asked.push({ sql, values })
    const found = await query<Row>(sql, values)
    rows = Math.max(rows, found.length)
    return found
  }
  try {
    await work()
  } finally {
    database.query = query
  }
  // What belongs to the rows of a page may be put into order: there is little of it.
  const pages = asked.filter(({ sql }) => sql.includes(" LIMIT "))
  const plans = pages.map(async ({ sql, values }) => {
    const steps = await query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
    return steps.map(({ detail }) => detail)
  })
  return { asked, rows, steps: (await Promise.all(plans)).flat() }
}

/** The steps by which the database answers a statement. */
async function planOf({ sql, values }: { sql: string; values: readonly SqlValue[] }): Promise<string[]> {
  const steps = await service.database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, values)
  return steps.map(({ detail }) => detail)
}

/** What goes through a whole table, or puts all that it found into order before it gives a page. */
const COSTLY = /^SCAN (?!.*USING (?:COVERING )?INDEX)|USE TEMP B-TREE FOR (?:LAST TERM OF )?ORDER BY|MULTI-INDEX OR/u

describe(`a page of ${MANY} rows`, () => {
  const ask = (path: string) => async () => {
    const response = await service.ask(path)
    expect(response.status, path).toBe(200)
    return response.json()
  }
  test.each([
    ["runs", "/runs?limit=50"],
    ["runs of agents", "/runs?limit=50&calls=0"],
    ["runs of one agent", "/runs?limit=50&agent=assistant"],
    ["open runs", "/runs?limit=50&only=open"],
    ["the runs after some", "/runs?limit=50&before=1700000000500~run-050050"],
    ["tasks", "/tasks?limit=50"],
    ["tasks in a state", "/tasks?limit=50&state=done"],
    ["later tasks", "/tasks?limit=50&offset=1000"],
    ["questions", "/approvals"],
    ["all questions", "/approvals?state=all"],
    ["conversations", "/conversations?limit=50"],
  ])("%s are read from an index in their order", async (_, path) => {
    const { asked, rows, steps } = await statementsOf(ask(path))
    expect(asked.length).toBeGreaterThan(0)
    expect(steps.filter((step) => COSTLY.test(step))).toEqual([])
    expect(rows).toBeLessThanOrEqual(51)
  })

  test("what 'runs list' and 'tasks list' show is too", async () => {
    const { log, queue } = service
    const { rows, steps } = await statementsOf(async () => {
      await log.list({ limit: 50, calls: false, askedBy: null })
      await log.list({ limit: 50, offset: 500, state: "running" })
      await queue.list({ limit: 50 })
      await conversationStore(service.database).list({ limit: 50, owner: "a" })
    })
    expect(steps.filter((step) => COSTLY.test(step))).toEqual([])
    expect(rows).toBe(50)
  })

  test("the newest plans and evaluations are not looked for among all others", async () => {
    const { log, queue } = service
    let plans: readonly { plan: string }[] = []
    let evaluations: readonly { id: string }[] = []
    const { asked, rows, steps } = await statementsOf(async () => {
      plans = await queue.plans()
      evaluations = await log.list({ surface: "eval", limit: 50 })
    })
    const newest = Array.from({ length: 50 }, (_, at) => `plan-0${MANY / 20 - 50 + at}`)
    expect(plans.map(({ plan }) => plan).toSorted()).toEqual(newest)
    expect(evaluations.map(({ id }) => id)).toEqual(["run-000008", "run-000007"])
    expect(steps.filter((step) => COSTLY.test(step))).toEqual([])
    expect(steps).toContainEqual(expect.stringContaining("USING INDEX runs_of_evaluations"))
    expect(steps).toContainEqual(expect.stringContaining("USING COVERING INDEX tasks_of_plans_by_time"))
    expect(rows).toBe(500)
    expect(asked).toHaveLength(3)
    const counted = asked.find(({ sql }) => sql.includes("GROUP BY plan, state"))!
    expect(await planOf(counted)).toContainEqual(expect.stringMatching(/^SEARCH tasks USING INDEX tasks_of_plan /))
  })

  test("tasks are counted from an index alone", async () => {
    const { asked, rows } = await statementsOf(ask("/tasks/stats"))
    expect(rows).toBe(1)
    expect(await planOf(asked[0]!)).toEqual([expect.stringMatching(/^SCAN tasks USING COVERING INDEX /)])
  })

  test("figures are those of the newest runs of their span, and of few of these each call is looked at", async () => {
    const from = 1_700_000_000_000
    const { asked, rows, steps } = await statementsOf(ask(`/figures?from=${from}&to=${from + MANY}`))
    expect(steps.filter((step) => COSTLY.test(step))).toEqual([])
    expect(rows).toBe(50_001)
    expect(asked).toHaveLength(1 + 1000 / 200)
    for (const statement of asked.slice(1))
      expect(
        (await planOf(statement)).filter((step) => COSTLY.test(step) || step.startsWith("SCAN run_events")),
      ).toEqual([])
    const { asked: narrow, rows: few } = await statementsOf(ask(`/figures?from=${from}&to=${from + 1}`))
    expect([few, narrow.length]).toEqual([100, 2])
  })

  test("pages follow one another without a gap, also among those that began at the same moment", async () => {
    const seen: string[] = []
    let next: string | undefined = ""
    for (let page = 0; page < 5; page++) {
      const list = (await ask(`/runs?limit=70&before=${next}`)()) as { runs: { id: string }[]; next?: string }
      seen.push(...list.runs.map(({ id }) => id))
      next = list.next
    }
    const newest = Array.from({ length: 350 }, (_, at) => `run-${String(MANY - 1 - at).padStart(6, "0")}`)
    expect(seen).toEqual(newest)
  })

  test("a page begins as far down as it is asked to", async () => {
    const { asked } = await statementsOf(async () => {
      await ask("/conversations?limit=50&offset=70000")()
      await ask("/tasks?limit=50&offset=70000")()
    })
    expect(asked.filter(({ values }) => values.includes(70_000))).toHaveLength(2)
  })

  test("a request for more than a page gets one", async () => {
    const { rows } = await statementsOf(async () => {
      await ask("/runs?limit=1000000")()
      await ask("/tasks?limit=1000000")()
      await ask("/approvals?state=all&limit=1000000")()
      await ask("/conversations?limit=1000000")()
    })
    expect(rows).toBeLessThanOrEqual(501)
  })
})

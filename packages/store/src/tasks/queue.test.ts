import { afterEach, expect, test } from "vitest"
import { openDatabase, taskQueue, type Database, type QueueOptions, type TaskQueue } from "../index.ts"
import { onBothDatabases } from "../testing/databases.ts"

const opened: Database[] = []
afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

async function queueAt(address: string, options?: QueueOptions): Promise<TaskQueue> {
  const database = await openDatabase(address)
  opened.push(database)
  return taskQueue(database, options)
}

/** A clock that a test turns. */
function clock(): { now: () => number; turn(ms: number): void } {
  let time = 1_000_000
  return { now: () => time, turn: (ms) => void (time += ms) }
}

const work = (input: unknown, more: object = {}) => ({ agent: "builder", input, ...more })
const states = async (queue: TaskQueue, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await queue.get(id))!.state))

onBothDatabases("a queue of tasks", (address) => {
  test("gives the most urgent first, of those the oldest, and each to one worker", async () => {
    const at = address()
    const [one, other] = [await queueAt(at), await queueAt(at)]
    const low = await one.add(work("low", { priority: -1 }))
    const plain = await one.addAll([work("a"), work("b"), work("c")])
    const high = await one.add(work("high", { priority: 5 }))
    expect((await one.claim("w", 1))[0]!.task).toMatchObject({
      id: high.id,
      state: "running",
      attempts: 1,
      holder: "w",
    })
    const [mine, theirs] = await Promise.all([one.claim("w", 2), other.claim("v", 2)])
    const ids = [...mine, ...theirs].map(({ task }) => task.id)
    expect(ids.toSorted()).toEqual([...plain.map(({ id }) => id), low.id].toSorted())
    expect(await one.claim("w")).toEqual([])
    expect(await other.counts()).toEqual({ running: 5 })
  })

  test("no two of many workers get the same task", async () => {
    const at = address()
    const queues = await Promise.all([1, 2, 3].map(() => queueAt(at)))
    await queues[0]!.addAll(Array.from({ length: 120 }, (_, index) => work(index)))
    const got = await Promise.all(
      queues.map(async (queue, index) => {
        const ids: string[] = []
        for (;;) {
          const claims = await queue.claim(`w${index}`, 3)
          if (claims.length === 0) return ids
          for (const claim of claims) {
            ids.push(claim.task.id)
            await queue.end(claim, { state: "done", result: index })
          }
        }
      }),
    )
    expect(new Set(got.flat()).size).toBe(120)
    expect(got.flat()).toHaveLength(120)
    expect(await queues[0]!.counts()).toEqual({ done: 120 })
  })

  test("a worker that was taken for dead changes nothing any more", async () => {
    const { now, turn } = clock()
    const queue = await queueAt(address(), { now })
    const { id } = await queue.add(work("x", { maxAttempts: 2 }))
    const [zombie] = await queue.claim("first")
    turn(5000)
    expect(await queue.reap(now() - 2000)).toEqual({ queued: 1, abandoned: 0 })
    const [heir] = await queue.claim("second")
    expect(heir!.fence).toBe(2)
    for (const late of [
      () => queue.beat(zombie!),
      () => queue.inRun(zombie!, "r"),
      () => queue.putBack(zombie!),
      () => queue.end(zombie!, { state: "done", result: "zombie" }),
    ])
      await expect(late()).rejects.toMatchObject({ code: "STALE_TASK" })
    await queue.inRun(heir!, "run-2")
    await queue.beat(heir!)
    turn(1000)
    expect(await queue.reap(now() - 2000)).toEqual({ queued: 0, abandoned: 0 })
    turn(5000)
    expect(await queue.reap(now() - 2000)).toEqual({ queued: 0, abandoned: 1 })
    expect(await queue.get(id)).toMatchObject({ state: "abandoned", attempts: 2, run: "run-2", holder: null })
    expect(await queue.claim("third")).toEqual([])
    await queue.retry(id)
    expect((await queue.claim("third"))[0]!.task).toMatchObject({ id, attempts: 1, fence: 3 })
  })

  test("a failure that may go better is tried again, later each time, until the tries are used up", async () => {
    const { now, turn } = clock()
    const queue = await queueAt(address(), { now })
    const { id } = await queue.add(work("x"))
    const pauses: number[] = []
    for (let attempt = 1; attempt < 3; attempt++) {
      const [claim] = await queue.claim("w")
      const task = await queue.end(claim!, { state: "failed", reason: "the server is away", retry: true })
      expect(task).toMatchObject({ state: "queued", attempts: attempt, reason: "the server is away" })
      pauses.push(task.not_before! - now())
      expect(await queue.claim("w")).toEqual([])
      turn(pauses.at(-1)!)
    }
    expect(pauses[1]).toBeGreaterThan(pauses[0]!)
    const [last] = await queue.claim("w")
    await queue.end(last!, { state: "failed", reason: "still away", retry: true })
    expect(await queue.get(id)).toMatchObject({ state: "failed", attempts: 3, ended_at: now() })
  })

  test("tasks wait for those before them, and are blocked where these fail", async () => {
    const queue = await queueAt(address())
    const plan = [
      work("d", { id: "d", after: ["b", "c"] }),
      work("b", { id: "b", after: ["a"] }),
      work("c", { id: "c", after: ["a"] }),
      work("a", { id: "a" }),
      work("e", { id: "e", after: ["d"] }),
    ]
    expect((await queue.addAll(plan)).map(({ id, state }) => `${id} ${state}`)).toEqual([
      "d waiting",
      "b waiting",
      "c waiting",
      "a queued",
      "e waiting",
    ])
    expect(await queue.dependencies(["d", "a"])).toEqual(
      new Map([
        ["d", ["b", "c"]],
        ["a", []],
      ]),
    )
    const end = async (id: string, state: "done" | "failed") => {
      const claim = (await queue.claim("w", 5)).find(({ task }) => task.id === id)
      await queue.end(claim!, state === "done" ? { state, result: null } : { state, reason: "no" })
    }
    await end("a", "done")
    expect(await states(queue, ["b", "c", "d"])).toEqual(["queued", "queued", "waiting"])
    const both = await queue.claim("w", 2)
    await queue.end(both[0]!, { state: "failed", reason: "no" })
    expect(await states(queue, ["d", "e"])).toEqual(["blocked", "blocked"])
    expect((await queue.get("d"))!.reason).toBe("it waits for b, which failed")
    await queue.retry("b")
    expect(await states(queue, ["b", "d", "e"])).toEqual(["queued", "waiting", "waiting"])
    await queue.end(both[1]!, { state: "done", result: 1 })
    await end("b", "done")
    expect(await states(queue, ["d", "e"])).toEqual(["queued", "waiting"])
    await end("d", "done")
    expect(await states(queue, ["e"])).toEqual(["queued"])
  })

  test("of two that end at once, the second lets go on what waited for both", async () => {
    const at = address()
    const queues = [await queueAt(at), await queueAt(at)]
    for (let round = 0; round < 15; round++) {
      const [a, b, both] = [`a${round}`, `b${round}`, `c${round}`]
      await queues[0]!.addAll([work(1, { id: a }), work(2, { id: b }), work(3, { id: both, after: [a, b] })])
      const claims = await queues[0]!.claim("w", 2)
      await Promise.all(claims.map((claim, index) => queues[index]!.end(claim, { state: "done", result: 0 })))
      expect((await queues[0]!.get(both))!.state).toBe("queued")
      const [last] = await queues[0]!.claim("w")
      await queues[0]!.end(last!, { state: "done", result: 0 })
    }
  })

  test("refuses tasks that wait for each other, for nothing, or are nested too deeply; and writes none of them", async () => {
    const queue = await queueAt(address())
    await expect(
      queue.addAll([
        work(1, { id: "a", after: ["b"] }),
        work(2, { id: "b", after: ["c"] }),
        work(3, { id: "c", after: ["a"] }),
      ]),
    ).rejects.toMatchObject({ code: "TASK_CYCLE", message: "These tasks wait for each other: a → b → c → a." })
    await expect(queue.addAll([work(1), work(2, { after: ["nowhere"] })])).rejects.toMatchObject({
      code: "UNKNOWN_TASK",
    })
    await expect(queue.add(work(1, { parent: "nobody" }))).rejects.toMatchObject({ code: "UNKNOWN_TASK" })
    expect(await queue.counts()).toEqual({})
    let { id: parent } = await queue.add(work("root"))
    for (const depth of [1, 2, 3]) {
      const child = await queue.add(work("child", { parent }))
      expect(child.depth).toBe(depth)
      parent = child.id
    }
    await expect(queue.add(work("too deep", { parent }))).rejects.toMatchObject({
      code: "NESTING_DEPTH_EXCEEDED",
      message: "Maximum nesting depth 3 exceeded",
    })
    // The database holds to it by itself.
    await expect(queue.database.query("UPDATE tasks SET depth = 4 WHERE id = ?", [parent])).rejects.toThrow(
      /tasks_nested_too_deeply/,
    )
  })

  test("the same order given twice is one task; a full queue takes no more", async () => {
    const queue = await queueAt(address(), { room: 3 })
    const first = await queue.add(work("once", { idempotencyKey: "k" }))
    const again = await queue.add(work("once more", { idempotencyKey: "k" }))
    expect(again).toEqual(first)
    await queue.addAll([work(2), work(3)])
    await expect(queue.add(work(4))).rejects.toMatchObject({ code: "QUEUE_FULL" })
    await queue.claim("w")
    expect((await queue.add(work(4))).state).toBe("queued")
  })

  test("cancelling takes along what was asked for, and whoever works on it hears of it", async () => {
    const queue = await queueAt(address())
    const root = await queue.add(work("root"))
    const child = await queue.add(work("child", { parent: root.id }))
    const grandchild = await queue.add(work("grandchild", { parent: child.id }))
    const after = await queue.add(work("after", { after: [root.id] }))
    const [claim] = await queue.claim("w")
    expect(claim!.task.id).toBe(root.id)
    expect(await queue.cancel(root.id, "no longer wanted")).toMatchObject({ state: "cancelled" })
    expect(await states(queue, [child.id, grandchild.id, after.id])).toEqual(["cancelled", "cancelled", "blocked"])
    await expect(queue.beat(claim!)).rejects.toMatchObject({
      code: "STALE_TASK",
      message: `The task ${root.id} was cancelled: no longer wanted; nothing was written.`,
    })
    expect(await queue.cancel(root.id)).toMatchObject({ state: "cancelled", reason: "no longer wanted" })
    const done = await queue.add(work("done"))
    const [next] = await queue.claim("w")
    await queue.end(next!, { state: "done", result: { ok: true } })
    expect(JSON.parse((await queue.get(done.id))!.result!)).toEqual({ ok: true })
    await expect(queue.cancel(done.id)).rejects.toMatchObject({ code: "TASK_ENDED" })
    await expect(queue.retry(done.id)).rejects.toMatchObject({ code: "TASK_OPEN" })
  })

  test("a task that asks for an approval waits without a worker, and goes on when it is answered", async () => {
    const queue = await queueAt(address())
    const { id } = await queue.add(work("x"))
    const [claim] = await queue.claim("w")
    await queue.inRun(claim!, "run-1")
    await queue.end(claim!, { state: "needs-approval", reason: "may it push?" })
    expect(await queue.reap(Number.MAX_SAFE_INTEGER)).toEqual({ queued: 0, abandoned: 0 })
    expect(await queue.awaken(id)).toBe(true)
    expect(await queue.awaken(id)).toBe(false)
    expect((await queue.claim("v"))[0]!.task).toMatchObject({ id, run: "run-1", attempts: 1, fence: 2 })
  })

  test("lists and finds tasks", async () => {
    const queue = await queueAt(address())
    const [a, b] = [await queue.add(work(1, { plan: "p" })), await queue.add(work(2, { agent: "reviewer" }))]
    expect((await queue.list()).map(({ id }) => id)).toEqual([b.id, a.id])
    expect((await queue.list({ plan: "p" })).map(({ id }) => id)).toEqual([a.id])
    expect((await queue.list({ agent: "reviewer", state: "queued" })).map(({ id }) => id)).toEqual([b.id])
    expect((await queue.list({ limit: 1, offset: 1 })).map(({ id }) => id)).toEqual([a.id])
    if (queue.database.dialect !== "sqlite") return
    const plan = await queue.database.query<{ detail: string }>(
      "EXPLAIN QUERY PLAN SELECT id FROM tasks ORDER BY created_at DESC, id DESC LIMIT 50",
    )
    // A page is read from the index, nothing is sorted.
    expect(plan.map(({ detail }) => detail)).toEqual([expect.stringContaining("tasks_by_time")])
    expect((await queue.find(b.id.slice(0, -1))).id).toBe(b.id)
    expect((await queue.find("latest")).id).toBe(b.id)
    await expect(queue.find("t")).rejects.toMatchObject({ code: "UNKNOWN_TASK" })
    await expect(queue.find("%")).rejects.toMatchObject({ code: "UNKNOWN_TASK" })
  })
})

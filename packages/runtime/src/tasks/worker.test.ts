import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openDatabase, taskQueue, type TaskQueue, type TaskRow, type TaskState } from "@toolwright/store"
import { afterEach, expect, test, vi } from "vitest"
import { startWorker, type TaskContext, type WorkerOptions } from "./worker.ts"

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const step of cleanUp.splice(0).toReversed()) await step()
})

async function newQueue(): Promise<TaskQueue> {
  const folder = mkdtempSync(join(tmpdir(), "worker-"))
  const database = await openDatabase(join(folder, "state.sqlite"))
  cleanUp.push(
    () => rmSync(folder, { recursive: true, force: true }),
    () => database.close(),
  )
  return taskQueue(database)
}

function worker(queue: TaskQueue, perform: WorkerOptions["perform"], more: Partial<WorkerOptions> = {}) {
  const started = startWorker({ queue, perform, idle: 10, ...more })
  cleanUp.push(() => started.drain(0))
  return started
}

const until = (queue: TaskQueue, id: string, state: TaskState) =>
  vi.waitFor(async () => expect((await queue.get(id))!.state).toBe(state), { timeout: 120_000, interval: 10 })
const untilAborted = ({ signal }: TaskContext) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(new Error(String(signal.reason)))))

test("works on what is queued, in turn, and writes down what came of it", async () => {
  const queue = await newQueue()
  const seen: unknown[] = []
  const [low, high, bad] = await queue.addAll([
    { agent: "a", input: "low" },
    { agent: "a", input: "high", priority: 1 },
    { agent: "a", input: "bad", priority: -1 },
  ])
  worker(queue, async (task: TaskRow, { inRun }) => {
    seen.push(JSON.parse(task.input))
    await inRun(`run of ${task.id}`)
    if (task.input === '"bad"') throw new Error("it broke")
    return { state: "done", result: { said: task.input } }
  })
  await until(queue, bad!.id, "failed")
  expect(seen).toEqual(["high", "low", "bad"])
  expect(await queue.get(low!.id)).toMatchObject({ state: "done", run: `run of ${low!.id}` })
  expect(JSON.parse((await queue.get(high!.id))!.result!)).toEqual({ said: '"high"' })
  expect(await queue.get(bad!.id)).toMatchObject({ reason: "it broke" })
})

test("works on several at once, and no more than it was told", async () => {
  const queue = await newQueue()
  let [now, most] = [0, 0]
  const gates: (() => void)[] = []
  const tasks = await queue.addAll(Array.from({ length: 5 }, (_, input) => ({ agent: "a", input })))
  worker(
    queue,
    async () => {
      most = Math.max(most, ++now)
      await new Promise<void>((resolve) => gates.push(resolve))
      now--
      return { state: "done", result: null }
    },
    { concurrency: 2 },
  )
  for (let done = 0; done < 5; done++) {
    await vi.waitFor(() => expect(gates.length).toBeGreaterThan(done), { timeout: 120_000 })
    gates[done]!()
  }
  for (const { id } of tasks) await until(queue, id, "done")
  expect(most).toBe(2)
})

test("a cancelled task is interrupted, and stays cancelled", async () => {
  const queue = await newQueue()
  const { id } = await queue.add({ agent: "a", input: "x" })
  const reasons: unknown[] = []
  worker(
    queue,
    (_, context) => {
      context.signal.addEventListener("abort", () => reasons.push(context.signal.reason))
      return untilAborted(context)
    },
    { lease: 200 },
  )
  await until(queue, id, "running")
  await queue.cancel(id)
  await vi.waitFor(() => expect(reasons).toEqual(["cancelled"]), { timeout: 120_000 })
  expect((await queue.get(id))!.state).toBe("cancelled")
})

test("a worker that gives no sign of life loses its task, and what it brings too late is not written", async () => {
  const queue = await newQueue()
  const { id } = await queue.add({ agent: "a", input: "x" })
  // A worker that hangs: it took the task and is not heard of again.
  const [zombie] = await queue.claim("zombie")
  worker(queue, async () => ({ state: "done", result: "by the heir" }), { lease: 100 })
  await until(queue, id, "done")
  await expect(queue.end(zombie!, { state: "done", result: "by the zombie" })).rejects.toMatchObject({
    code: "STALE_TASK",
  })
  expect(await queue.get(id)).toMatchObject({ result: '"by the heir"', attempts: 2, fence: 2 })
})

test("a task that takes its workers along again and again is given up", async () => {
  const queue = await newQueue()
  const { id } = await queue.add({ agent: "a", input: "x", maxAttempts: 3 })
  for (let death = 0; death < 3; death++) {
    await queue.claim("dies")
    await queue.reap(Date.now() + 1)
  }
  worker(queue, async () => ({ state: "done", result: null }), { lease: 50 })
  expect(await queue.get(id)).toMatchObject({ state: "abandoned", reason: "its worker was not heard of any more" })
})

/** A queue whose database is away, as far as some of its operations are concerned. */
function awayFor(queue: TaskQueue, isAway: () => boolean, names: readonly (keyof TaskQueue)[]): TaskQueue {
  return new Proxy(queue, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== "function") return value
      const bound = value.bind(target) as (...args: unknown[]) => unknown
      if (!names.includes(name as keyof TaskQueue)) return bound
      return (...args: unknown[]) => (isAway() ? Promise.reject(new Error("the database is away")) : bound(...args))
    },
  })
}

test("a worker that could not say that it is alive gives its task back, and has not failed at it", async () => {
  const queue = await newQueue()
  const { id } = await queue.add({ agent: "a", input: "x", maxAttempts: 1 })
  let away = true
  const reasons: unknown[] = []
  worker(
    awayFor(queue, () => away, ["beat"]),
    async (_, context) => {
      if (!away) return { state: "done", result: "at the second look" }
      context.signal.addEventListener("abort", () => {
        reasons.push(context.signal.reason)
        away = false
      })
      return untilAborted(context)
    },
    { lease: 100 },
  )
  await until(queue, id, "done")
  expect(reasons).toEqual(["stale"])
  expect(await queue.get(id)).toMatchObject({ result: '"at the second look"', attempts: 1 })
})

test("an end that could not be written for longer than the lease is written once the database is back", async () => {
  const queue = await newQueue()
  const { id } = await queue.add({ agent: "a", input: "x" })
  let away = true
  const said: string[] = []
  worker(
    awayFor(queue, () => away, ["end"]),
    async () => ({ state: "done", result: "once" }),
    { lease: 60, log: (line) => void said.push(line) },
  )
  await vi.waitFor(() => expect(said).toContain(`${id}: the database is away`), { timeout: 120_000, interval: 10 })
  expect((await queue.get(id))!.state).toBe("running")
  away = false
  await until(queue, id, "done")
  expect(await queue.get(id)).toMatchObject({ result: '"once"', attempts: 1 })
})

test("a worker that stops lets its tasks end, and gives back those that take too long, without counting the try", async () => {
  const queue = await newQueue()
  let finish = (): void => {}
  const { id } = await queue.add({ agent: "a", input: "short" })
  const patient = worker(queue, async () => {
    await new Promise<void>((resolve) => (finish = resolve))
    return { state: "done", result: "done" }
  })
  await until(queue, id, "running")
  const later = await queue.add({ agent: "a", input: "later" })
  const drained = patient.drain()
  finish()
  await drained
  expect((await queue.get(id))!.state).toBe("done")
  expect((await queue.get(later.id))!.state).toBe("queued")
  const hasty = worker(queue, (_, context) => untilAborted(context))
  await until(queue, later.id, "running")
  await hasty.drain(20)
  expect(await queue.get(later.id)).toMatchObject({ state: "queued", attempts: 0, holder: null })
})

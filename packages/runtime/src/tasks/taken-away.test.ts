import { channel } from "node:diagnostics_channel"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Backend, InferEvent } from "@toolwright/backends"
import type { TaskRow } from "@toolwright/store"
import { defineTool, type ToolContext, type ToolDefinition } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { createToolwright } from "../toolwright.ts"
import { taskPerformer } from "./perform.ts"
import type { Performed } from "./worker.ts"

/** Asks for the one call wherever it was not answered by its result. */
const payer: Backend = {
  kind: "mock",
  abilities: { nativeTools: true, grammar: false, jsonSchema: false },
  modelName: () => "payer",
  async *infer({ messages }): AsyncGenerator<InferEvent> {
    const last = messages.at(-1)
    if (last?.role === "tool" && last.content.includes("paid")) {
      yield { type: "text-delta", text: "Paid." }
      yield { type: "end", finishReason: "stop" }
      return
    }
    yield { type: "call-delta", index: 0, id: "c1", name: "pay", arguments: "{}" }
    yield { type: "end", finishReason: "tool-calls" }
  },
}

onBothDatabases("a task that is taken from its worker", (address) => {
  async function made(pay: (context: ToolContext) => Promise<string>) {
    const cwd = mkdtempSync(join(tmpdir(), "taken-"))
    const tool: ToolDefinition = defineTool({
      name: "pay",
      description: "Pays, once for its key",
      effects: { keyed: true },
      parameters: { type: "object", properties: {} },
      execute: (_args, context) => pay(context),
    })
    const toolwright = await createToolwright({
      cwd,
      backend: payer,
      tools: [tool],
      runs: { database: address() },
    })
    onTestFinished(async () => {
      await toolwright.close()
      rmSync(cwd, { recursive: true, force: true })
    })
    const queue = await toolwright.tasks.open()
    const perform = taskPerformer({
      toolwright,
      root: toolwright.tasks.root,
      at: async () => toolwright,
      treesOf: () => cwd,
    })
    const { id } = await queue.add({ agent: "assistant", input: "pay", maxAttempts: 9 })
    const take = async (): Promise<TaskRow> => {
      await queue.database.query("UPDATE tasks SET heartbeat = 0 WHERE id = ?", [id])
      await queue.reap(1)
      return (await queue.claim("somebody"))[0]!.task
    }
    const work = (task: TaskRow, signal: AbortSignal, noted: (run: string) => Promise<void> = async () => {}) =>
      perform(task, {
        signal,
        inRun: async (run) => {
          await queue.inRun({ task, fence: task.fence }, run)
          await noted(run)
        },
      }) as Promise<Performed>
    return { toolwright, take, work, log: await toolwright.log.open(), queue }
  }

  const never = (): AbortSignal => new AbortController().signal

  test.each([
    ["and which is never answered", "stale", () => new Promise<string>(() => {})],
    ["and which breaks off", "stale", () => Promise.reject<string>(new Error("aborted"))],
    ["and which is never answered, by a worker that stops", "stopped", () => new Promise<string>(() => {})],
  ] as const)("in the midst of a call %s has one effect", async (_, why, answer) => {
    const keys: string[] = []
    const taking = new AbortController()
    const { take, work, queue, toolwright } = await made(async ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      if (keys.length > 1) return "paid"
      // The effect is there, and then the worker learns that its lease is over.
      taking.abort(why)
      return answer()
    })
    await work(await take(), taking.signal)
    const task = await take()
    expect(await work(task, never())).toMatchObject({ state: "done" })

    expect(new Set(keys).size).toBe(1)
    const { events } = await toolwright.readRun((await queue.get(task.id))!.run!)
    expect(events.filter(({ type }) => type === "reply")).toHaveLength(2)
    expect(events.filter(({ type }) => type === "tool-end")).toMatchObject([{ result: { success: true } }])
    expect(await queue.database.query("SELECT state FROM effects")).toEqual([{ state: "done" }])
  })

  test("between the end of a call and the next round has one effect", async () => {
    const keys: string[] = []
    const taking = new AbortController()
    const writes = channel("toolwright:log-write")
    // The first write after the call is that of its end.
    const abort = (): void => void (keys.length === 1 && taking.abort("stale"))
    const { take, work } = await made(async ({ idempotencyKey }) => {
      if (keys.push(idempotencyKey) === 1) writes.subscribe(abort)
      return "paid"
    })
    onTestFinished(() => void writes.unsubscribe(abort))
    await work(await take(), taking.signal)
    expect(taking.signal.aborted).toBe(true)
    expect(await work(await take(), never())).toMatchObject({ state: "done" })
    expect(keys).toHaveLength(1)
  })

  test("when its run had a row and no event yet is begun by the next, and its worker writes nothing more", async () => {
    const { take, work, log, queue } = await made(async () => "paid")
    const first = await take()
    await queue.inRun({ task: first, fence: first.fence }, "r1")
    const head = { agent: "assistant", model: "payer", title: "pay", surface: "worker", time: 1 }
    const asleep = await log.begin({ id: "r1", holder: "a", task: first.id, ...head })
    expect(await work(await take(), never())).toMatchObject({ state: "done" })
    await expect(asleep.append([{ type: "run-start", body: "{}", time: 2 }])).rejects.toMatchObject({
      code: "STALE_RUN",
    })
  })

  test("is looked at again where its former worker begins the run after the look at it", async () => {
    const { take, work, log } = await made(async () => "paid")
    const task = await take()
    const head = { agent: "assistant", model: "payer", title: "pay", surface: "worker", time: 1 }
    const begins = async (run: string): Promise<void> => {
      const writer = await log.begin({ id: run, holder: "a", task: task.id, ...head })
      await writer.append([{ type: "run-start", body: "{}", time: 2 }])
    }
    expect(await work(task, never(), begins)).toEqual({ state: "queued" })
  })

  test("keeps the run that was named for it and is not begun, so that no second one is", async () => {
    const { take, queue } = await made(async () => "paid")
    const task = await take()
    const claim = { task, fence: task.fence }
    await queue.inRun(claim, "r1")
    expect(await queue.end(claim, { state: "failed", reason: "away", retry: true })).toMatchObject({
      state: "queued",
      run: "r1",
    })
  })
})

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Backend, InferEvent } from "@toolwright/backends"
import { verifyRun, type Budget } from "@toolwright/store"
import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { createToolwright, type Toolwright, type ToolwrightOptions } from "../toolwright.ts"
import { startTaskWorker } from "./work.ts"

const calling = (name: string, args: JsonObject): InferEvent[] => [
  { type: "call-delta", index: 0, id: "c1", name, arguments: JSON.stringify(args) },
  { type: "end", finishReason: "tool-calls", usage: { inputTokens: 600, outputTokens: 400 } },
]
const saying = (text: string): InferEvent[] => [
  { type: "text-delta", text },
  { type: "end", finishReason: "stop", usage: { inputTokens: 600, outputTokens: 400 } },
]
const away = (): never => {
  throw new ToolwrightError("MODEL_UNREACHABLE", "The model's server does not answer.")
}

/** Plays one after another, whichever run asks. */
function backend(steps: readonly (InferEvent[] | (() => never))[]): Backend {
  let next = 0
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "m",
    async *infer() {
      const step = steps[Math.min(next++, steps.length - 1)]!
      yield* typeof step === "function" ? step() : step
    },
  }
}

/** Works on what can be taken now. */
async function workOnce(toolwright: Toolwright, made: ToolwrightOptions): Promise<void> {
  const empty = Promise.withResolvers<void>()
  const worker = await startTaskWorker({ toolwright, made, idle: 5, onEmpty: () => empty.resolve() })
  await empty.promise
  await worker.drain()
}

onBothDatabases("tasks on which agents work", (address) => {
  async function made(steps: Parameters<typeof backend>[0], more: JsonObject = {}) {
    const cwd = mkdtempSync(join(tmpdir(), "perform-"))
    const options = {
      cwd,
      withBuiltins: true,
      backend: backend(steps),
      workspace: { roots: [cwd] },
      runs: { database: address() },
      ...more,
    }
    const toolwright = await createToolwright(options)
    onTestFinished(async () => {
      await toolwright.close()
      rmSync(cwd, { recursive: true, force: true })
    })
    const queue = await toolwright.tasks.open()
    const workspace = toolwright.tasks.workspace!
    const work = (): Promise<void> => workOnce(toolwright, options)
    return { toolwright, queue, workspace, work, options }
  }

  const lastEvent = async (toolwright: Toolwright, run: string): Promise<string> =>
    (await toolwright.readRun(run)).events.at(-1)!.type

  test.each<[Budget, RegExp | undefined]>([
    [{ tokens: 2_500 }, /^its budget of 2500 tokens is used up \(3000\)$/],
    [{ tokens: 5_000 }, undefined],
    [{ rounds: 2 }, /max rounds/],
    [{ milliseconds: 1 }, /^its budget of 0.001 s is used up$/],
    // Two rounds cost 2 × (600 × 1 + 400 × 5) ÷ 1,000,000.
    [{ money: 0.0052 }, /^its budget of 0.0052 is used up \(0.0078\)$/],
    [{ money: 0.0079 }, undefined],
  ])("with the budget %j end as that says", async (budget, reason) => {
    const look = calling("file_read", { path: "none.txt" })
    const prices = { m: { input: 1, output: 5 } }
    const { queue, work, workspace } = await made([look, look, saying("Done.")], { model: { prices } })
    const { id } = await queue.add({ agent: "assistant", input: "look", budget, workspace })
    await work()
    const row = await queue.get(id)
    if (reason === undefined) expect(row?.reason ?? "").not.toContain("budget")
    else expect(row).toMatchObject({ state: "failed", reason: expect.stringMatching(reason) as string })
  })

  test("fail with what failed, and not with the model's word that all is done", async () => {
    const { queue, work, workspace } = await made([
      calling("file_replace", { path: "none.txt", old_text: "a", new_text: "b" }),
      saying("I replaced it."),
    ])
    const { id } = await queue.add({ agent: "assistant", input: "replace a", workspace })
    await work()
    const row = await queue.get(id)
    expect(row).toMatchObject({ state: "failed", reason: expect.stringMatching(/^'file_replace' failed/) as string })
    expect(row?.reason).not.toContain("I replaced it")
  })

  test("with a budget in money and a model of unknown price fail at once, and say what to set", async () => {
    const { queue, work, workspace, toolwright } = await made([saying("Done.")])
    const { id } = await queue.add({ agent: "assistant", input: "x", budget: { money: 1 }, workspace })
    await work()
    const row = (await queue.get(id))!
    expect(row).toMatchObject({ state: "failed", reason: expect.stringContaining('set model.prices: { "m"') as string })
    const { events } = await toolwright.readRun(row.run!)
    expect(events.some(({ type }) => type === "reply")).toBe(false)
  })

  test("are tried again in the same run once the model's server is back, after longer and longer pauses", async () => {
    const { queue, work, workspace, toolwright } = await made([away, away, saying("Done.")])
    const { id } = await queue.add({ agent: "assistant", input: "x", workspace, maxAttempts: 3 })
    const pauses: number[] = []
    for (let attempt = 1; attempt <= 2; attempt++) {
      await work()
      const row = (await queue.get(id))!
      expect(row).toMatchObject({
        state: "queued",
        attempts: attempt,
        reason: expect.stringContaining("does not answer") as string,
      })
      pauses.push(row.not_before! - row.updated_at)
      await queue.database.query("UPDATE tasks SET not_before = 0 WHERE id = ?", [id])
    }
    expect(pauses).toEqual([2_000, 4_000])
    await work()
    const row = (await queue.get(id))!
    expect(row).toMatchObject({ state: "done", attempts: 3 })
    expect(await toolwright.runs()).toHaveLength(1)
  })

  test("lose no try to a worker that has not the model of their run, and wait for one that has", async () => {
    const { queue, work, workspace, options, toolwright } = await made([away, saying("Done.")])
    const { id } = await queue.add({ agent: "assistant", input: "x", workspace, maxAttempts: 2 })
    const dueNow = () => queue.database.query("UPDATE tasks SET not_before = 0 WHERE id = ?", [id])
    await work()
    const { backend: _, ...without } = options
    await using other = await createToolwright({ ...without, env: { PATH: process.env.PATH } })
    for (let look = 0; look < 3; look++) {
      await dueNow()
      await workOnce(other, without)
      expect(await queue.get(id)).toMatchObject({
        state: "queued",
        attempts: 1,
        reason: expect.stringMatching(/'m', and no model is configured\. A worker that has one/) as string,
      })
    }
    await dueNow()
    await work()
    expect(await queue.get(id)).toMatchObject({ state: "done", attempts: 2 })
    expect(await toolwright.runs()).toHaveLength(1)
  })

  test("are not done at another try that only says so, and are where it did what had failed", async () => {
    const outside = calling("file_write", { path: "../outside.txt", content: "x" })
    const inside = calling("file_write", { path: "inside.txt", content: "x" })
    const look = calling("file_list", { path: "." })
    for (const [second, state] of [
      [[saying("Written.")], "failed"],
      [[look, saying("Written.")], "failed"],
      [[inside, saying("Written.")], "done"],
    ] as const) {
      const { queue, work, workspace } = await made([outside, saying("Written."), ...second])
      const { id } = await queue.add({
        agent: "assistant",
        input: { task: "write it", tryAgain: true },
        workspace,
        maxAttempts: 2,
      })
      await work()
      await work()
      expect(await queue.get(id)).toMatchObject({ state, attempts: 2 })
    }
  })

  test("fail once they were tried often enough", async () => {
    const { queue, work, workspace } = await made([away])
    const { id } = await queue.add({ agent: "assistant", input: "x", workspace, maxAttempts: 1 })
    await work()
    expect(await queue.get(id)).toMatchObject({ state: "failed", attempts: 1 })
  })

  test("leave no run open that are cancelled while they wait for their next try, or for an answer", async () => {
    const { queue, work, workspace, toolwright } = await made([away, calling("file_delete", { path: "a.txt" })], {
      permissions: { ask: ["file_delete"], approvals: "wait" },
    })
    for (const state of ["queued", "needs-approval"]) {
      const { id } = await queue.add({ agent: "assistant", input: "x", workspace })
      await work()
      const { run, state: now } = (await queue.get(id))!
      const log = await toolwright.log.open()
      expect([now, (await log.get(run!))!.state]).toEqual([state, "waiting"])
      await queue.cancel(id)
      expect(await queue.get(id)).toMatchObject({ state: "cancelled" })
      expect(await log.get(run!)).toMatchObject({ state: "ended", outcome: "cancelled" })
      expect(await lastEvent(toolwright, run!)).toBe("run-end")
      expect((await verifyRun(queue.database, run!)).broken).toBeUndefined()
    }
  })
})

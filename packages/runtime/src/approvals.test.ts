import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import { defineTool } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { createToolwright, type Toolwright } from "./toolwright.ts"

/** Tools that do something once somebody permits it, what was done, and a program whose model plays some replies. */
function world() {
  const cwd = mkdtempSync(join(tmpdir(), "approvals-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  const done: string[] = []
  const tools = ["remove", "send"].map((name) =>
    defineTool({
      name,
      description: name,
      parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      effects: { readOnly: false, destructive: true },
      execute: ({ path }) => {
        done.push(`${name} ${String(path)}`)
        return "done"
      },
    }),
  )
  const open = (replies: readonly (string | readonly [name: string, path: string])[]): Promise<Toolwright> => {
    const steps = replies.map((reply) =>
      typeof reply === "string" ? { reply } : { reply: { calls: [{ name: reply[0], arguments: { path: reply[1] } }] } },
    )
    const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
    return createToolwright({ cwd, tools, backend, permissions: { ask: ["*"], approvals: "wait" } })
  }
  return { done, open }
}

const pending = async (toolwright: Toolwright) =>
  (await toolwright.approvals.list()).map(({ id, run, tool, arguments: args }) => ({
    id,
    run,
    asked: `${tool} ${args}`,
  }))

async function goOn(toolwright: Toolwright, run: string): Promise<void> {
  for await (const event of toolwright.resume(run)) void event
}

test("an answer holds for one call of one run: others, with other arguments or the same, are asked about anew", async () => {
  const { done, open } = world()
  await using first = await open([["remove", "a"]])
  await first.complete("Remove a")
  await using second = await open([["remove", "a"]])
  await second.complete("Remove a too")
  const [one, other] = await pending(first)
  expect([one!.asked, other!.asked]).toEqual(['remove {"path":"a"}', 'remove {"path":"a"}'])
  await first.approvals.allow(one!.id)

  // The same call of another run waits on.
  await using elsewhere = await open([])
  await goOn(elsewhere, other!.run!)
  expect(done).toEqual([])

  // The run that was answered makes its call once; each further one is a question of its own.
  for (const [call, asked] of [
    [["remove", "b"], 'remove {"path":"b"}'],
    [["send", "b"], 'send {"path":"b"}'],
    [["remove", "a"], 'remove {"path":"a"}'],
  ] as const) {
    await using further = await open([call])
    await goOn(further, one!.run!)
    const waiting = (await pending(further)).filter(({ run }) => run === one!.run)
    expect(waiting.map((each) => each.asked)).toEqual([asked])
    const before = [...done]
    await using idle = await open([])
    await goOn(idle, one!.run!)
    expect(done).toEqual(before)
    await further.approvals.allow(waiting[0]!.id)
  }
  await using last = await open(["All done."])
  await goOn(last, one!.run!)
  expect(done).toEqual(["remove a", "remove b", "send b", "remove a"])
  expect(await pending(last)).toEqual([other])
})

test("a denied call is not made, and its refusal is no answer for the same call of another run", async () => {
  const { done, open } = world()
  await using first = await open([["remove", "a"]])
  await first.complete("Remove a")
  const [one] = await pending(first)
  await first.approvals.deny(one!.id)
  await using second = await open([["remove", "a"]])
  await second.complete("Remove a too")
  const [other] = await pending(second)
  await second.approvals.allow(other!.id)
  await using last = await open(["Done."])
  await goOn(last, one!.run!)
  expect(done).toEqual([])
  await using again = await open(["Done."])
  await goOn(again, other!.run!)
  expect(done).toEqual(["remove a"])
})

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Backend, InferEvent } from "@toolwright/backends"
import { verifyRun } from "@toolwright/store"
import { expect, onTestFinished, test } from "vitest"
import { createToolwright } from "../toolwright.ts"

const LINES = 40

/** Adds a line, one call a round. */
const backend: Backend = {
  kind: "mock",
  abilities: { nativeTools: true, grammar: false, jsonSchema: false },
  modelName: () => "m",
  async *infer({ messages }): AsyncGenerator<InferEvent> {
    const round = messages.filter(({ role }) => role === "assistant").length
    if (round === LINES) {
      yield { type: "text-delta", text: "All lines are there." }
      yield { type: "end", finishReason: "stop" }
      return
    }
    const args = JSON.stringify({ path: "log.txt", content: `line ${round} ${"x".repeat(3_000)}\n` })
    yield { type: "call-delta", index: 0, id: `c${round}`, name: "file_append", arguments: args }
    yield { type: "end", finishReason: "tool-calls" }
  },
}

test("a run on a full disk stops, says so, and goes on with nothing lost or done twice once there is room", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "full-disk-"))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, "log.txt"), "")
  await using toolwright = await createToolwright({
    cwd,
    backend,
    workspace: { roots: [cwd] },
    agent: { maxRounds: LINES + 1 },
  })
  const { database } = await toolwright.log.open()
  const pagesNow = async (): Promise<number> =>
    (await database.query<{ page_count: number }>("PRAGMA page_count"))[0]!.page_count
  // The file may grow no further than by so many pages, as on a disk with as much room.
  await database.query(`PRAGMA max_page_count = ${(await pagesNow()) + 20}`)
  const stopped = await toolwright.complete("Add lines.", { runId: "r" })
  expect(stopped).toMatchObject({ success: false, message: expect.stringContaining("cannot be written") as string })
  expect(stopped.message).toMatch(/full/)
  const before = readFileSync(join(cwd, "log.txt"), "utf8").split("\n").length
  expect(before).toBeGreaterThan(1)
  expect(before).toBeLessThan(LINES)

  await database.query("PRAGMA max_page_count = 1000000")
  const run = toolwright.resume("r", { takeOver: true })
  let step = await run.next()
  while (!step.done) step = await run.next()
  expect(step.value).toMatchObject({ success: true, message: "All lines are there." })
  const lines = readFileSync(join(cwd, "log.txt"), "utf8").trim().split("\n")
  expect(lines.map((line) => line.split(" ")[1])).toEqual(Array.from({ length: LINES }, (_, at) => String(at)))
  expect((await verifyRun(database, "r")).broken).toBeUndefined()
})

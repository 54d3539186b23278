import { defineTool, success, type ToolContext } from "@toolwright/toolbox"
import { createScriptedBackend, type Backend } from "@toolwright/backends"
import { openDatabase, runLog, verifyRun, type Database, type RunLog } from "@toolwright/store"
import { afterEach, beforeEach, expect, test } from "vitest"
import { DynamicExecutor } from "../executor/executor.ts"
import { call, calls, echo, play, registryOf } from "../testing/harness.ts"
import { listRuns, readRun } from "./reader.ts"
import { recordRun, type RecorderOptions } from "./recorder.ts"

let database: Database
let log: RunLog
beforeEach(async () => {
  database = await openDatabase(":memory:")
  log = runLog(database)
})
afterEach(() => database.close())

const redact = (text: string) => text.replaceAll("hunter2", "[secret]")
const recorder =
  (options: RecorderOptions = { redact }) =>
  (given: Parameters<typeof recordRun>[2]) =>
    recordRun(log, { surface: "test" }, given, options)
const run = (runId: string, reply = "done") =>
  play([calls(call("look", { text: "hunter2\n" })), { reply }], [echo("look")], {
    recorder: recorder(),
    request: { runId },
  })
/** A tool with an effect, of which nothing is declared. */
const acting = (execute: (args: unknown, context: ToolContext) => unknown) =>
  defineTool({ name: "act", description: "", parameters: { type: "object" }, execute })
const everything = async (): Promise<string> =>
  JSON.stringify([
    await database.query("SELECT * FROM runs"),
    await database.query("SELECT * FROM run_events"),
    await database.query("SELECT * FROM bodies"),
    await database.query("SELECT * FROM effects"),
  ])

test("a run is on record with its events, without secrets and without deltas, and as numbered files", async () => {
  await run("one")
  const { head, events, files } = await readRun(log, "one")
  expect(head).toMatchObject({
    runId: "one",
    agent: "assistant",
    task: "Do it",
    status: "completed",
    summary: { outcome: "completed", calls: 1 },
  })
  expect(files.map(({ name }) => name)).toEqual([
    "001-prompt.md",
    "002-response.md",
    "003-tool-calls.json",
    "004-tool-results.json",
    "005-prompt.md",
    "006-response.md",
  ])
  expect(events.map(({ type }) => type)).toContain("tool-end")
  expect(events.map(({ type }) => type)).not.toContain("text-delta")
  expect(files[0]?.text).toMatch(/^# system/)
  expect(files[4]?.text).toMatch(/^\(The first 2 messages are those of the prompt before\.\)/)
  expect(await everything()).not.toContain("hunter2")
  expect(await everything()).toContain("[secret]")
  expect(await verifyRun(database, "one")).toMatchObject({ events: events.length })
})

test("each message stands in the log once, however many rounds send it", async () => {
  const rounds = 40
  const text = (index: number) => `${index} `.padEnd(2000, "x")
  const steps = [
    ...Array.from({ length: rounds }, (_, index) => calls(call("look", { text: text(index) }))),
    { reply: "done" },
  ]
  await play(steps, [echo("look", { maxOutputChars: 5000 })], {
    recorder: recorder(),
    request: { runId: "long" },
    maxRounds: rounds + 1,
  })
  const [{ bytes }] = (await database.query<{ bytes: number }>("SELECT sum(size) AS bytes FROM bodies")) as [
    { bytes: number },
  ]
  // A call and its result stand in the reply, in the conversation and in the ends of calls: a few times, not forty.
  expect(bytes).toBeLessThan(rounds * 2000 * 8)
  const { files } = await readRun(log, "long")
  expect(files.filter(({ name }) => name.endsWith("prompt.md"))).toHaveLength(rounds + 1)
})

test("data that JSON has no form for is lost from no record, nor what comes after it", async () => {
  const loop: Record<string, unknown> = { size: 5n }
  loop.self = loop
  const odd = defineTool({ name: "odd", description: "", parameters: { type: "object" }, execute: () => loop })
  await play([calls(call("odd")), calls(call("look")), { reply: "done" }], [odd, echo("look")], {
    recorder: recorder(),
    request: { runId: "odd" },
  })
  const { events, files } = await readRun(log, "odd")
  expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(2)
  expect(files.filter(({ name }) => name.endsWith("tool-results.json"))).toHaveLength(2)
})

test("runs are listed newest first", async () => {
  let time = 0
  for (const runId of ["20260101-a", "20260102-b"]) {
    await play([calls(call("look")), { reply: "done" }], [echo("look")], {
      recorder: recorder({ now: () => ++time }),
      request: { runId },
    })
  }
  expect((await listRuns(log)).map(({ runId }) => runId)).toEqual(["20260102-b", "20260101-a"])
  expect((await readRun(log, "latest")).head.runId).toBe("20260102-b")
  await expect(readRun(log, "20260103-b")).rejects.toMatchObject({
    code: "UNKNOWN_RUN",
    hint: expect.stringContaining("20260102-b"),
  })
})

test("a run whose process died counts as interrupted, and one that is under way does not", async () => {
  await run("one")
  const undo = "UPDATE runs SET state = 'running', heartbeat = 1, holder = ? WHERE id = 'one'"
  const [row] = await database.query<{ holder: string }>("SELECT holder FROM runs")
  await database.query(undo, [row!.holder])
  expect((await listRuns(log))[0]?.status).toBe("running")
  for (const holder of [row!.holder.replace(/\/\d+\//, "/999999999/"), row!.holder.slice(0, -1), "elsewhere/1/x", ""]) {
    await database.query(undo, [holder])
    expect((await listRuns(log))[0]?.status, holder).toBe("interrupted")
  }
})

test("before a call may take effect, it stands in the log; one that only reads does not wait for it", async () => {
  const seen: unknown[] = []
  const act = acting(async (_args, context) => {
    seen.push(...(await log.events("one")).map(({ type }) => type).slice(-2))
    seen.push(...(await database.query("SELECT state, declared, call_index FROM effects")))
    const [{ key }] = (await database.query<{ key: string }>("SELECT key FROM effects")) as [{ key: string }]
    expect(context.idempotencyKey).toBe(key)
    return "done"
  })
  await play([calls(call("look"), call("act")), { reply: "done" }], [act, echo("look")], {
    recorder: recorder(),
    request: { runId: "one" },
  })
  expect(seen).toEqual(["tool-start", "effect-start", { state: "started", declared: "none", call_index: 2 }])
  expect(await database.query("SELECT state, attempts FROM effects")).toEqual([{ state: "done", attempts: 1 }])
})

test("a run ends where its log cannot be written, and the call that was next is not made", async () => {
  let acted = 0
  const act = acting(() => `done ${++acted}`)
  const spoil = echo("spoil", {
    handler: async () => {
      await database.query("DROP TABLE effects")
      return success({ output: "" })
    },
  })
  const { summary, events } = await play([calls(call("spoil")), calls(call("act")), { reply: "done" }], [act, spoil], {
    recorder: recorder(),
  })
  expect(acted).toBe(0)
  expect(summary).toMatchObject({ outcome: "failed", success: false })
  expect(events.at(-1)).toMatchObject({ type: "run-end", error: { code: "LOG_UNWRITABLE" } })
})

test("a run ends where nobody can be asked on record, and the call that was to be asked about is not told as failed", async () => {
  let acted = 0
  const act = acting(() => `done ${++acted}`)
  await database.query("DROP TABLE approvals")
  const { summary, events } = await play([calls(call("act")), { reply: "done" }], [act], {
    recorder: recorder(),
    approvals: "wait",
    permissions: { otherwise: "ask" },
  })
  expect(acted).toBe(0)
  expect(summary).toMatchObject({ outcome: "failed", success: false })
  expect(events.at(-1)).toMatchObject({ type: "run-end", error: { code: "LOG_UNWRITABLE" } })
})

test("a run that was taken over writes nothing more, runs nothing more and says so", async () => {
  let acted = 0
  const act = acting(() => `done ${++acted}`)
  const steal = echo("steal", {
    handler: async () => {
      await log.claim("one", { holder: "other", time: 2e15, deadBefore: 1e15 * 3 })
      return success({ output: "" })
    },
  })
  const { events } = await play([calls(call("steal")), calls(call("act")), { reply: "done" }], [act, steal], {
    recorder: recorder(),
    request: { runId: "one" },
  })
  expect(acted).toBe(0)
  expect(events.at(-1)).toMatchObject({ type: "run-end", error: { code: "STALE_RUN" } })
  expect((await log.events("one")).every(({ fence }) => fence === 1)).toBe(true)
})

test.each([
  ["while the model writes", "text-delta"],
  ["before it is asked", "round-start"],
  ["while a tool runs", "tool-start"],
  ["between calls and the next question", "round-end"],
] as const)("a run whose loop is left %s is cancelled, in the record too", async (_when, type) => {
  const hang = defineTool({
    name: "hang",
    description: "",
    parameters: { type: "object" },
    execute: () => (type === "tool-start" ? new Promise(() => {}) : "done"),
  })
  const steps = type === "text-delta" ? [{ reply: { text: "a", hang: true as const } }] : [calls(call("hang"))]
  const backend = createScriptedBackend({ steps })
  const executor = new DynamicExecutor({ tools: registryOf(hang), backend, recorder: recorder() })
  for await (const event of executor.run({ task: "Do it", runId: "left" })) if (event.type === type) break
  const { head, events } = await readRun(log, "left")
  expect(head).toMatchObject({ status: "cancelled", summary: { outcome: "cancelled", success: false } })
  expect(events.at(-1)).toMatchObject({ type: "run-end", summary: { outcome: "cancelled" } })
  const ends = events.filter((event) => event.type === "tool-end")
  expect(ends).toMatchObject(
    type === "tool-start"
      ? [{ result: { error: { code: "CANCELLED" } } }]
      : type === "round-end"
        ? [{ result: { success: true } }]
        : [],
  )
})

/** A model of which a run is told how it came to each reply: one token a character. */
const traced = (replies: readonly string[]): Backend => {
  let round = 0
  return {
    kind: "traced",
    abilities: { nativeTools: false, grammar: false, jsonSchema: false, tokens: true },
    modelName: () => "qwen3-8b",
    async *infer({ recordTokens }) {
      const text = replies[round++]!
      yield { type: "text-delta", text }
      const texts = [...new Set(text)]
      const tokens = [...text].map((each) => texts.indexOf(each))
      if (recordTokens === true)
        yield { type: "tokens", trace: { texts, tokens, doubts: tokens.map(() => 0), others: {} } }
      yield { type: "end", finishReason: "stop" }
    },
  }
}
const tracedRun = async (
  id: string,
  { task, replies, record = true }: { task: string; replies: string[]; record?: boolean },
) => {
  const executor = new DynamicExecutor({
    tools: registryOf(echo("look")),
    backend: traced(replies),
    recordTokens: record,
    recorder: recorder(),
  })
  for await (const _ of executor.run({ task, runId: id }));
  const { events } = await readRun(log, id)
  return events.filter(({ type }) => type === "reply-tokens") as unknown as {
    withheld?: true
    trace?: { tokens: number[] }
    origins?: { argument: string; places: { text: string }[] }[]
  }[]
}
const looking = (text: string): string => `<tool_call>{"name":"look","arguments":{"text":"${text}"}}</tool_call>`

test("how a model came to its replies stands in the record where it is asked for, and no piece of a secret does", async () => {
  const asked = { task: "Look at apples", replies: [looking("apples"), "done"] }
  expect(await tracedRun("not-asked", { ...asked, record: false })).toEqual([])
  const told = await tracedRun("asked", asked)
  expect(told).toHaveLength(2)
  expect(told[0]!.trace!.tokens).toHaveLength(looking("apples").length)
  expect(told[0]!.origins).toMatchObject([{ argument: "text", places: [{ text: "apples" }] }])

  const secret = await tracedRun("secret", { task: "The word is hunter2", replies: [looking("hunter2"), "word"] })
  expect(secret.map(({ withheld }) => withheld)).toEqual([true, undefined])
  // Beside a secret stands no word of what was said around it, of which a part may be its own.
  const beside = await tracedRun("beside", { task: "hunter2 is the word", replies: [looking("the word"), "done"] })
  expect(beside[0]!.origins).toMatchObject([{ argument: "text", places: [{ before: "", text: "", after: "" }] }])
  expect(await everything()).not.toMatch(/hunter/)
})

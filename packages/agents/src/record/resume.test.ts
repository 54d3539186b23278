import {
  defineTool,
  failure,
  success,
  ToolRegistry,
  type JsonSchema,
  type RunEvent,
  type RunSummary,
  type ToolResult,
} from "@toolwright/toolbox"
import type { Backend, InferEvent } from "@toolwright/backends"
import { openDatabase, runLog, verifyRun, type Database, type RunLog } from "@toolwright/store"
import fc from "fast-check"
import { expect, test } from "vitest"
import { DynamicExecutor } from "../executor/executor.ts"
import type { ExecutorOptions } from "../executor/options.ts"
import type { Phase } from "../phases/phase.ts"
import { call, calls, echo, type Steps } from "../testing/harness.ts"
import { Encoder } from "./encode.ts"
import { foldRun } from "./fold.ts"
import { recordOn, recordRun } from "./recorder.ts"

/** A small world that calls change, and what of it each call saw. */
interface World {
  lines: string[]
  paid: Map<string, number>
  sent: string[]
}

const newWorld = (): World => ({ lines: [], paid: new Map(), sent: [] })

function toolsOf(world: World): ToolRegistry {
  const text: JsonSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] }
  const registry = new ToolRegistry()
  registry.register(echo("look"))
  registry.register(
    defineTool({
      name: "set",
      description: "Sets the last line; twice is as once",
      parameters: text,
      effects: { idempotent: true },
      execute: ({ text: line }) => {
        if (world.lines.at(-1) !== line) world.lines.push(String(line))
        return success({ output: `set ${String(line)}`, modifiedFiles: [`${String(line)}.txt`] })
      },
    }),
  )
  registry.register(
    defineTool({
      name: "pay",
      description: "Pays, once for each key",
      parameters: text,
      effects: { keyed: true },
      execute: (_args, { idempotencyKey }) => {
        if (!world.paid.has(idempotencyKey)) world.paid.set(idempotencyKey, world.paid.size + 1)
        return success({ output: `paid ${world.paid.get(idempotencyKey)}` })
      },
    }),
  )
  const send = defineTool({
    name: "send",
    description: "Sends",
    parameters: text,
    execute: ({ text: mail }) => {
      world.sent.push(String(mail))
      return success({ output: `sent ${String(mail)}` })
    },
  })
  registry.register({
    ...send,
    reconcile: async ({ arguments: args }) =>
      world.sent.includes(String(args.text))
        ? { outcome: "done", result: success({ output: `sent ${String(args.text)}` }) }
        : { outcome: "not-done" },
  })
  registry.register(
    defineTool({
      name: "fail",
      description: "Fails",
      parameters: text,
      effects: { idempotent: true },
      execute: () => failure({ code: "NO", message: "no" }),
    }),
  )
  return registry
}

/** Replies from the given inference on; ids of calls are those that the whole play gives. */
function backendFrom(steps: Steps, from: number): Backend {
  let next = from
  return {
    kind: "mock",
    abilities: { nativeTools: true, grammar: false, jsonSchema: false },
    modelName: () => "mock",
    async *infer(): AsyncGenerator<InferEvent> {
      const round = next++
      const reply = steps[round]!.reply as string | { calls: { name: string; arguments: object }[] }
      if (typeof reply === "string") yield { type: "text-delta", text: reply }
      else
        for (const [index, { name, arguments: args }] of reply.calls.entries())
          yield { type: "call-delta", index, id: `c${round}-${index}`, name, arguments: JSON.stringify(args) }
      const usage = { inputTokens: 10 * round, outputTokens: 1 }
      yield { type: "end", finishReason: typeof reply === "string" ? "stop" : "tool-calls", usage }
    },
  }
}

const script: Steps = [
  calls(call("look", { text: "a" }), call("look", { text: "b" }), call("set", { text: "one" })),
  calls(call("pay", { text: "p" }), call("send", { text: "m1" })),
  { reply: "" },
  calls(call("fail", { text: "f" }), call("set", { text: "two" })),
  calls(call("nothing_such", {}), call("send", { text: "m2" })),
  calls(call("pay", { text: "p" }), call("pay", { text: "p" })),
  { reply: "All is done." },
]

async function played(log: RunLog, steps: Steps, world: World, phases?: readonly Phase[]) {
  const executor = new DynamicExecutor({
    ...(phases === undefined ? {} : { phases }),
    tools: toolsOf(world),
    backend: backendFrom(steps, 0),
    recorder: (given) => recordRun(log, { surface: "test" }, given),
  })
  return endOf(
    executor.run({ task: "Do it", runId: "r", systemPrompt: "Be good.", history: [{ role: "user", content: "hi" }] }),
  )
}

async function endOf(run: AsyncGenerator<RunEvent, RunSummary>): Promise<RunSummary> {
  for (;;) {
    const step = await run.next()
    if (step.done) return step.value
  }
}

/** Copies the first events of a run into a database of their own, as a process leaves them that dies there. */
async function cutAfter(from: RunLog, seq: number): Promise<{ database: Database; log: RunLog }> {
  const database = await openDatabase(":memory:")
  const log = runLog(database)
  const writer = await log.begin({
    id: "r",
    agent: "assistant",
    model: "m",
    title: "Do it",
    surface: "test",
    holder: "gone/1/",
    time: 1,
  })
  for (const { hash, content } of await from.database.query<{ hash: string; content: string }>("SELECT * FROM bodies"))
    await database.query("INSERT INTO bodies VALUES (?, ?, ?, 1)", [hash, content, content.length])
  const events = await from.events("r", { upTo: seq })
  await writer.append(events.map(({ type, body, time }) => ({ type, body: body!, time })))
  return { database, log }
}

async function resumed(log: RunLog, steps: Steps, world: World, phases?: readonly Phase[]): Promise<RunSummary> {
  const writer = await log.claim("r", { holder: "here/2/", time: 1e12, deadBefore: 1e15 })
  const folded = await foldRun(log.database, await log.events("r"))
  const encoder = new Encoder(writer, (text) => text, {})
  const started = (await log.events("r")).filter(({ type }) => type === "reply").length
  const { conversation } = folded
  if (conversation !== undefined) encoder.resumeFrom(conversation.messages, conversation.hashes)
  const executor = new DynamicExecutor({
    ...(phases === undefined ? {} : { phases }),
    tools: toolsOf(world),
    backend: backendFrom(steps, started),
  })
  return endOf(executor.resume(folded, recordOn({ writer, encoder })))
}

/** What a run comes to, without its times. */
const outcome = ({ times: _times, ...summary }: RunSummary) => summary

/** The state that a log adds up to, without times. */
async function stateIn(log: RunLog) {
  const { counters, conversation, seq: _seq, ...folded } = await foldRun(log.database, await log.events("r"))
  const { modelMs: _a, toolMs: _b, totalMs: _c, ...counted } = counters ?? { modelMs: 0, toolMs: 0, totalMs: 0 }
  return JSON.parse(
    JSON.stringify({ ...folded, counted, messages: conversation?.messages }, (key, value: unknown) =>
      key === "executionTimeMs" || key === "modelMs" ? 0 : value,
    ),
  ) as unknown
}

test("resumed after any event, a run ends as it does uninterrupted, and no effect happens twice", async () => {
  await using whole = await openDatabase(":memory:")
  const log = runLog(whole)
  const world = newWorld()
  const summary = await played(log, script, world)
  expect(summary.outcome).toBe("completed-with-failures")
  const events = await log.events("r")
  const final = await stateIn(log)
  expect(events.length).toBeGreaterThan(40)
  // The last round and the end of the run are written as one.
  for (const { seq, type } of events.slice(0, -2)) {
    // What had taken effect when the process died: as far as this event tells, or one call further.
    for (const further of type === "effect-start" ? [false, true] : [false]) {
      const cut = await cutAfter(log, seq)
      const now = newWorld()
      await replay(events.slice(0, seq), now, further)
      const end = await resumed(cut.log, script, now)
      expect(outcome(end), `after event ${seq}, ${type}`).toEqual(outcome(summary))
      expect(now.lines, `after event ${seq}, ${type}`).toEqual(world.lines)
      expect(now.sent).toEqual(world.sent)
      expect(now.paid.size).toBe(world.paid.size)
      expect(await stateIn(cut.log), `after event ${seq}, ${type}`).toEqual(final)
      expect((await verifyRun(cut.database, "r")).broken).toBeUndefined()
      await cut.database.close()
    }
  }
})

const inPhases: Steps = [
  calls(call("look", { text: "a" })),
  calls(call("hand_over", {})),
  calls(call("send", { text: "m1" }), call("hand_over", { note: "go on" }), call("send", { text: "too late" })),
  calls(call("set", { text: "one" })),
  { reply: "" },
  calls(call("pay", { text: "p" }), call("hand_over", { summary: "paid" })),
  calls(call("set", { text: "two" })),
  { reply: "All is done." },
]
const noted: JsonSchema = { type: "object", properties: { note: { type: "string" } }, required: ["note"] }
const PHASES: readonly Phase[] = [
  { name: "first", handsOver: { artifact: "found", schema: noted } },
  { name: "second", maxRounds: 4 },
  { name: "third", completion: { requireToolUse: true } },
]

test("in phases too, whichever event was the last: inside of one, between two, before the first", async () => {
  await using whole = await openDatabase(":memory:")
  const log = runLog(whole)
  const world = newWorld()
  const summary = await played(log, inPhases, world, PHASES)
  expect(summary.artifacts).toEqual({ found: { note: "go on" }, second: { summary: "paid" } })
  expect(world.sent).toEqual(["m1"])
  const events = await log.events("r")
  const final = await stateIn(log)
  for (const { seq, type } of events.slice(0, -3)) {
    const cut = await cutAfter(log, seq)
    const now = newWorld()
    await replay(events.slice(0, seq), now, false)
    expect(outcome(await resumed(cut.log, inPhases, now, PHASES)), `after event ${seq}, ${type}`).toEqual(
      outcome(summary),
    )
    expect({ lines: now.lines, sent: now.sent, paid: now.paid.size }, `after event ${seq}, ${type}`).toEqual({
      lines: world.lines,
      sent: world.sent,
      paid: world.paid.size,
    })
    expect(await stateIn(cut.log), `after event ${seq}, ${type}`).toEqual(final)
    await cut.database.close()
  }
})

test("a run whose agent has other phases by now does not go on", async () => {
  await using whole = await openDatabase(":memory:")
  const log = runLog(whole)
  await played(log, inPhases, newWorld(), PHASES)
  const cut = await cutAfter(log, 20)
  const others = [{ ...PHASES[0]!, name: "another" }, ...PHASES.slice(1)]
  await expect(resumed(cut.log, inPhases, newWorld(), others)).rejects.toMatchObject({ code: "PHASES_CHANGED" })
  await cut.database.close()
})

/** Brings the world to where it was when these events were the log. */
async function replay(events: Awaited<ReturnType<RunLog["events"]>>, world: World, further: boolean): Promise<void> {
  const tools = toolsOf(world)
  const begun = new Map<string, { name: string; arguments: Record<string, unknown> }>()
  const keys = new Map<string, string>()
  for (const { type, body } of events) {
    const read = JSON.parse(body!) as { callId: string; name: string; arguments: Record<string, unknown>; key: string }
    if (type === "tool-start") begun.set(read.callId, read)
    if (type === "effect-start") keys.set(read.callId, read.key)
    if (type === "tool-end" && keys.has(read.callId)) await act(read.callId)
  }
  const last = events.at(-1)!
  if (further) await act((JSON.parse(last.body!) as { callId: string }).callId)

  async function act(callId: string): Promise<void> {
    const { name, arguments: args } = begun.get(callId)!
    const context = { idempotencyKey: keys.get(callId)!, callId, signal: new AbortController().signal, progress() {} }
    await tools.get(name)!.handler(args as never, context as never)
  }
}

test("a call that may have happened and that nobody can ask about is told, and never run again by itself", async () => {
  await using whole = await openDatabase(":memory:")
  const log = runLog(whole)
  let done = 0
  const steps: Steps = [calls(call("risky")), { reply: "It may have happened." }]
  const risky = defineTool({
    name: "risky",
    description: "",
    parameters: { type: "object" },
    execute: () => `${++done}`,
  })
  const registry = new ToolRegistry()
  registry.register(risky)
  const options = { tools: registry, backend: backendFrom(steps, 0) }
  await endOf(
    new DynamicExecutor({ ...options, recorder: (given) => recordRun(log, { surface: "test" }, given) }).run({
      task: "Do it",
      runId: "r",
    }),
  )
  expect(done).toBe(1)
  const begun = (await log.events("r")).find(({ type }) => type === "effect-start")!
  const cut = await cutAfter(log, begun.seq)
  const writer = await cut.log.claim("r", { holder: "x", time: 1e12, deadBefore: 1e15 })
  const folded = await foldRun(cut.database, await cut.log.events("r"))
  const executor = new DynamicExecutor({ ...options, backend: backendFrom(steps, 1) })
  const summary = await endOf(executor.resume(folded, recordOn({ writer, encoder: new Encoder(writer, (t) => t, {}) })))
  expect(done).toBe(1)
  expect(summary).toMatchObject({ success: false, notes: [expect.objectContaining({ code: "OUTCOME_UNKNOWN" })] })
  const end = (await cut.log.events("r")).find(({ type }) => type === "tool-end")
  expect(end?.body).toContain("OUTCOME_UNKNOWN")
  await cut.database.close()
})

test("a call is not made with what is left of its arguments once a secret was taken out of them", async () => {
  await using whole = await openDatabase(":memory:")
  const log = runLog(whole)
  const redact = (text: string): string => text.replaceAll("hunter2", "•••")
  const world = newWorld()
  const steps: Steps = [calls(call("set", { text: "hunter2" }), call("set", { text: "plain" })), { reply: "Done." }]
  const recorder = (given: Parameters<NonNullable<ExecutorOptions["recorder"]>>[0]) =>
    recordRun(log, { surface: "test" }, given, { redact })
  const executor = new DynamicExecutor({ tools: toolsOf(world), backend: backendFrom(steps, 0), recorder })
  await endOf(executor.run({ task: "Do it", runId: "r" }))
  expect(world.lines).toEqual(["hunter2", "plain"])
  const events = await log.events("r")
  for (const [type, code] of [
    ["reply", "ARGUMENTS_NOT_KEPT"],
    ["effect-start", "OUTCOME_UNKNOWN"],
  ] as const) {
    const cut = await cutAfter(log, events.find((event) => event.type === type)!.seq)
    const now = newWorld()
    await resumed(cut.log, steps, now)
    expect(now.lines).toEqual(["plain"])
    const ends = (await cut.log.events("r")).filter((event) => event.type === "tool-end")
    expect(ends.map(({ body }) => (JSON.parse(body!) as { result: ToolResult }).result.error?.code)).toEqual([
      code,
      undefined,
    ])
    await cut.database.close()
  }
})

test("law: whatever a run does, what its log adds up to is what it was, and resuming anywhere ends the same", async () => {
  const aCall = fc.record({
    name: fc.constantFrom("look", "set", "pay", "send", "fail"),
    arguments: fc.record({ text: fc.constantFrom("a", "b", "c d", "ü\n") }),
  })
  const aRound = fc.array(aCall, { minLength: 1, maxLength: 3 }).map((list) => calls(...list))
  const aPlay = fc.array(aRound, { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(aPlay, fc.double({ min: 0, max: 0.999, noNaN: true }), async (rounds, at) => {
      // The same text sent twice could not be told from once: each gets its own.
      let count = 0
      const steps: Steps = [
        ...rounds.map(({ reply }) =>
          calls(
            ...reply.calls.map(({ name, arguments: args }) =>
              call(name, { text: `${args.text as string}${name === "send" ? ++count : ""}` }),
            ),
          ),
        ),
        { reply: "Done." },
      ]
      await using whole = await openDatabase(":memory:")
      const log = runLog(whole)
      const world = newWorld()
      const summary = await played(log, steps, world)
      const events = await log.events("r")
      const seq = 1 + Math.floor(at * (events.length - 2))
      const cut = await cutAfter(log, seq)
      const now = newWorld()
      await replay(events.slice(0, seq), now, false)
      const end = await resumed(cut.log, steps, now)
      expect(outcome(end)).toEqual(outcome(summary))
      expect([now.lines, now.sent, now.paid.size]).toEqual([world.lines, world.sent, world.paid.size])
      expect(await stateIn(cut.log)).toEqual(await stateIn(log))
      await cut.database.close()
    }),
    { numRuns: 40 },
  )
})

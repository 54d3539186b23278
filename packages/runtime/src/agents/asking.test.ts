import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend, type Backend, type InferRequest } from "@toolwright/backends"
import { taskInput } from "@toolwright/store"
import type { AgentDefinition } from "@toolwright/agents"
import type { RunEvent } from "@toolwright/toolbox"
import { expect, onTestFinished, test, vi } from "vitest"
import { onBothDatabases } from "../../../store/src/testing/databases.ts"
import { startTaskWorker } from "../tasks/work.ts"
import { createToolwright, type ToolwrightOptions } from "../toolwright.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/** A model that plays one screenplay for each task, told apart by the first word of the task. */
function modelByTask(scripts: Readonly<Record<string, Steps>>): Backend & { requests: InferRequest[] } {
  const plays = new Map(
    Object.entries(scripts).map(([task, steps]) => [
      task,
      createScriptedBackend({ model: "qwen2.5-7b-instruct", abilities: { nativeTools: true }, steps }),
    ]),
  )
  const requests: InferRequest[] = []
  const [any] = plays.values()
  return {
    kind: "scripted",
    abilities: any!.abilities,
    modelName: () => any!.modelName(),
    requests,
    async *infer(request, options) {
      requests.push(request)
      const task = String(request.messages.find(({ role }) => role === "user")?.content).split(/\s/)[0]!
      yield* plays.get(task)!.infer(request, options)
    },
  }
}

const ask = (agent: string, task: string): Steps[number] => ({
  reply: { calls: [{ name: `ask_${agent}`, arguments: { task } }] },
})
const write = (path: string): Steps[number] => ({
  reply: { calls: [{ name: "write_file", arguments: { path, content: "x\n" } }] },
})

const AGENTS: Record<string, AgentDefinition> = {
  reader: { prompt: "You read.", mode: "reads", tools: { only: ["file_read"] } },
  writer: { prompt: "You write.", tools: { only: ["write_file"] } },
  lead: { prompt: "You lead.", tools: { only: ["file_read"], agents: ["reader", "writer", "lead"] } },
}

async function assembled(scripts: Readonly<Record<string, Steps>>, more: Partial<ToolwrightOptions> = {}) {
  const cwd = mkdtempSync(join(tmpdir(), "asking-"))
  const backend = modelByTask(scripts)
  const made = { cwd, workspace: { roots: [cwd] }, backend, agents: { define: AGENTS }, ...more }
  const toolwright = await createToolwright(made)
  onTestFinished(async () => {
    await toolwright.close()
    rmSync(cwd, { recursive: true, force: true })
  })
  return { cwd, toolwright, backend, made }
}

/** Four levels that each ask the next; the last is told that it may not. */
const DOWN: Readonly<Record<string, Steps>> = {
  zero: [ask("lead", "one level down"), { expect: { success: true, result: "one is done" }, reply: "zero is done" }],
  one: [ask("lead", "two levels down"), { expect: { success: true, result: "two is done" }, reply: "one is done" }],
  two: [ask("lead", "three levels down"), { expect: { success: true, result: "three is done" }, reply: "two is done" }],
  three: [
    ask("lead", "four levels down"),
    { expect: { success: false, result: "Maximum nesting depth 3 exceeded" }, reply: "three is done" },
  ],
}

onBothDatabases("an agent asks another as a tool", (address) => {
  test("down to the depth that is allowed: the one below is a failed call, and all end well", async () => {
    const { toolwright } = await assembled(DOWN, { runs: { database: address() } })
    const summary = await toolwright.complete("zero starts", { agent: "lead" })
    expect(summary).toMatchObject({ message: "zero is done" })
    const log = await toolwright.log.open()
    const depths: [string, number][] = []
    for (let run: string | undefined = summary.runId; run !== undefined;) {
      const [below] = await log.list({ askedBy: run })
      if (below !== undefined) depths.push([below.title, below.depth])
      run = below?.id
    }
    expect(depths).toEqual([
      ["one level down", 1],
      ["two levels down", 2],
      ["three levels down", 3],
    ])
    expect(await toolwright.runs({ askedBy: null })).toHaveLength(1)
    expect((await toolwright.readRun("latest")).head.runId).toBe(summary.runId)
  })

  test("as a task of the queue, at the depth that its root allows", async () => {
    const { toolwright, made } = await assembled(
      {
        zero: [ask("lead", "one level down"), { reply: "zero is done" }],
        one: [
          ask("lead", "two levels down"),
          { expect: { success: false, result: "Maximum nesting depth 1 exceeded" }, reply: "one is done" },
        ],
      },
      { runs: { database: address() } },
    )
    const queue = await toolwright.tasks.open()
    const { id } = await queue.add({ agent: "lead", input: taskInput({ task: "zero starts" }), maxDepth: 1 })
    await using _worker = await startTaskWorker({ toolwright, made: { ...made, withBuiltins: true }, idle: 20 })
    await vi.waitFor(async () => expect(await queue.find(id)).toMatchObject({ state: "done" }), { timeout: 60_000 })
    const { run } = await queue.find(id)
    const [below] = await toolwright.runs({ askedBy: run! })
    expect(below).toMatchObject({ agent: "lead", task: "one level down", status: "completed" })
  })

  test("an interrupted run goes on with the run that it had asked for, and asks for no second one", async () => {
    const stop = new AbortController()
    const steps: Readonly<Record<string, Steps>> = {
      zero: [ask("writer", "one file"), { expect: { success: true, result: "written" }, reply: "zero is done" }],
      one: [write("a.txt"), { reply: "written" }],
    }
    const { toolwright, cwd, backend } = await assembled(steps, { runs: { database: address() } })
    const leaves = (): boolean => stop.signal.aborted
    const infer = backend.infer.bind(backend)
    // The process is stopped as the second request of the asked agent is made.
    backend.infer = async function* (request, options) {
      if (request.messages.some(({ role }) => role === "tool") && !stop.signal.aborted) {
        stop.abort("stopped")
        throw stop.signal.reason
      }
      yield* infer(request, options)
    }
    const first = await toolwright.complete("zero starts", { agent: "lead", signal: stop.signal, leaves })
    expect(first.outcome).toBe("cancelled")
    const log = await toolwright.log.open()
    // Who asked does not wait until the asked one has been put down.
    await vi.waitFor(async () => expect(await log.list({ askedBy: first.runId })).toMatchObject([{ state: "waiting" }]))
    const [left] = await log.list({ askedBy: first.runId })
    rmSync(join(cwd, "a.txt"))
    const events: RunEvent[] = []
    for await (const event of toolwright.resume(first.runId)) events.push(event)
    expect(events.at(-1)).toMatchObject({ summary: { message: "zero is done" } })
    const below = await log.list({ askedBy: first.runId })
    expect(below).toMatchObject([{ id: left!.id, state: "ended", outcome: "completed" }])
    // What it had written before it was stopped is not written again.
    expect(existsSync(join(cwd, "a.txt"))).toBe(false)
  })

  test("what it waits for, whoever asked waits for; the answer lets both go on", async () => {
    const { toolwright, cwd } = await assembled(
      {
        zero: [ask("writer", "one file"), { expect: { success: true, result: "written" }, reply: "zero is done" }],
        one: [write("a.txt"), { expect: { success: true }, reply: "written" }],
      },
      { runs: { database: address() }, permissions: { ask: ["write_file"], approvals: "wait" } },
    )
    const first = await toolwright.complete("zero starts", { agent: "lead" })
    expect(first).toMatchObject({ outcome: "waiting", message: expect.stringContaining(`resume ${first.runId}`) })
    const { approvalsIn } = await import("@toolwright/store")
    const approvals = approvalsIn((await toolwright.log.open()).database)
    const [question] = await approvals.list({ state: "pending" })
    expect(question).toMatchObject({ tool: "write_file" })
    await approvals.answer(question!.id, { allow: true, by: "me", time: Date.now() })
    let message = ""
    for await (const event of toolwright.resume(first.runId))
      if (event.type === "run-end") message = event.summary.message
    expect(message).toBe("zero is done")
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("x\n")
  })
})

test("it has a conversation of its own, and its answer, files, tokens and artifacts come back", async () => {
  const { toolwright, backend, cwd } = await assembled({
    zero: [ask("writer", "one file"), { expect: { success: true, result: "written" }, reply: "zero is done" }],
    one: [write("a.txt"), { reply: "written" }],
  })
  const heard: string[] = []
  const events: RunEvent[] = []
  const options = { agent: "lead", hears: (event: RunEvent) => void heard.push(event.type) }
  for await (const event of toolwright.run("zero starts", options)) events.push(event)
  const [, asked] = backend.requests
  expect(JSON.stringify(asked!.messages)).not.toContain("zero")
  expect(asked!.tools!.map((tool) => tool.function.name)).toEqual(["write_file"])
  expect(events.at(-1)).toMatchObject({ summary: { modifiedFiles: [join(cwd, "a.txt")] } })
  expect(heard).toContain("run-end")
  const end = events.find((event) => event.type === "tool-end")!
  expect(end).toMatchObject({ name: "ask_writer", result: { metadata: { asked: { outcome: "completed" } } } })
  expect(events.some((event) => event.type === "tool-progress" && event.message === "round 2")).toBe(true)
})

test("whoever only reads may ask readers and nobody else; one that is not there is told before anything begins", async () => {
  const define = {
    ...AGENTS,
    lead: { ...AGENTS.lead!, mode: "reads" as const },
    lost: { tools: { agents: ["writre"] } },
  }
  const { toolwright, cwd } = await assembled(
    {
      zero: [
        ask("writer", "one file"),
        { expect: { success: false, result: "only reads" }, ...ask("reader", "one look") },
        { expect: { success: true, result: "seen" }, reply: "zero is done" },
      ],
      one: [{ reply: "seen" }],
    },
    { agents: { define } },
  )
  expect((await toolwright.complete("zero starts", { agent: "lead" })).message).toBe("zero is done")
  expect(existsSync(join(cwd, "a.txt"))).toBe(false)
  await expect(toolwright.complete("x", { agent: "lost" })).rejects.toThrow(/no agent 'writre'.*'lost' is to ask it/)
})

test("it has what is left of the limits of whoever asks, and cancelling reaches it", async () => {
  const usage = { inputTokens: 400, outputTokens: 0 }
  const paid = (reply: object): Steps[number] => ({ reply: { ...reply, usage } })
  const look = { ...paid({ calls: [{ name: "file_read", arguments: { path: "none" } }] }), repeat: "always" as const }
  const asks = paid({ calls: [{ name: "ask_reader", arguments: { task: "one look" } }] })
  const define = { ...AGENTS, lead: { ...AGENTS.lead!, limits: { tokens: 1000 } } }
  const { toolwright } = await assembled(
    {
      zero: [asks, paid({ text: "zero is done" })],
      one: [look],
    },
    { agents: { define } },
  )
  const summary = await toolwright.complete("zero starts", { agent: "lead" })
  expect(summary).toMatchObject({ outcome: "max-rounds", inputTokens: 1200 })
  const [below] = await toolwright.runs({ askedBy: summary.runId })
  expect(below?.summary?.message).toContain("limit of 600 tokens")

  const stop = new AbortController()
  const endless = await assembled({
    zero: [ask("reader", "one look")],
    one: [{ reply: { hang: true } }],
  })
  const running = endless.toolwright.run("zero starts", { agent: "lead", signal: stop.signal })
  for await (const event of running) if (event.type === "tool-progress") stop.abort()
  const [cancelled] = await endless.toolwright.runs({ askedBy: null })
  expect(cancelled?.status).toBe("cancelled")
  expect(await endless.toolwright.runs({ askedBy: cancelled!.runId })).toMatchObject([{ status: "cancelled" }])
})

test("an agent that failed is not put right by its word that all is done, only by what it does", async () => {
  const outside: Steps[number] = {
    reply: { calls: [{ name: "write_file", arguments: { path: "/nowhere/a.txt", content: "x" } }] },
  }
  const asksTwice: Steps = [ask("writer", "first try"), ask("writer", "second try"), { reply: "All is written." }]
  const liar = { zero: asksTwice, first: [outside, { reply: "Written." }], second: [{ reply: "It is there." }] }
  const told = await (await assembled(liar)).toolwright.complete("zero", { agent: "lead" })
  expect(told).toMatchObject({ outcome: "completed-with-failures", notes: [{ code: "AGENT_FAILED" }] })
  const honest = { ...liar, second: [write("a.txt"), { reply: "It is there." }] }
  const done = await (await assembled(honest)).toolwright.complete("zero", { agent: "lead" })
  expect(done).toMatchObject({ outcome: "completed", modifiedFiles: [expect.stringMatching(/a\.txt$/)] })
})

test("whoever asks is told what is on record, whatever the asked agent says that it did", async () => {
  const claim = "I wrote a.txt and b.txt, committed them, and all 12 tests pass."
  const { cwd, toolwright, backend } = await assembled({
    lies: [ask("writer", "nothing at all"), ask("writer", "half of it"), { reply: "lies is done" }],
    nothing: [{ reply: claim }],
    half: [write("a.txt"), { reply: claim }],
  })
  await toolwright.complete("lies starts", { agent: "lead" })
  const told = backend.requests.at(-1)!.messages.filter(({ role }) => role === "tool")
  expect(told.map(({ content }) => String(content))).toEqual([
    expect.stringContaining("[On record: it changed no file.]"),
    expect.stringContaining(`[On record: it changed ${join(cwd, "a.txt")}.]`),
  ])
  expect(readdirSync(cwd).filter((name) => name.endsWith(".txt"))).toEqual(["a.txt"])
})

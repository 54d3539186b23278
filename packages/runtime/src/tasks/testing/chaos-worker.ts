import { existsSync } from "node:fs"
import type { Backend, InferEvent } from "@toolwright/backends"
import { defineTool } from "@toolwright/toolbox"
import { createToolwright, type ToolwrightOptions } from "../../toolwright.ts"
import { startTaskWorker } from "../work.ts"

/** A worker as a process of its own, whose agent has one effect for each task: somebody outside notes it. */
export interface ChaosWorker {
  cwd: string
  database: string
  /** Notes a payment, once for its key. */
  url: string
  lease: number
  /** What this one queues itself, one after the other, while it works. */
  queues?: readonly string[]
  /** Once it has paid, its tool keeps the process from everything else until this file is there. */
  blocksUntil?: string
}

/** What nobody wakes the process for: it waits, and does nothing else meanwhile. */
const never = new Int32Array(new SharedArrayBuffer(4))

const { cwd, database, url, lease, queues = [], blocksUntil } = JSON.parse(process.argv[2]!) as ChaosWorker

/** Asks for the one call, and then says that it is done. */
const backend: Backend = {
  kind: "mock",
  abilities: { nativeTools: true, grammar: false, jsonSchema: false },
  modelName: () => "payer",
  async *infer({ messages }): AsyncGenerator<InferEvent> {
    if (messages.at(-1)?.role === "tool") {
      yield { type: "text-delta", text: "Paid." }
      yield { type: "end", finishReason: "stop" }
      return
    }
    // What follows the first line tells of an earlier try, as of one that the database's death ended.
    const [task] = String(messages.findLast(({ role }) => role === "user")?.content).split("\n")
    yield { type: "call-delta", index: 0, id: "c1", name: "pay", arguments: JSON.stringify({ task }) }
    yield { type: "end", finishReason: "tool-calls" }
  },
}

const pay = defineTool({
  name: "pay",
  description: "Pays for a task, once for its key",
  effects: { keyed: true },
  parameters: { type: "object", properties: { task: { type: "string" } }, required: ["task"] },
  async execute({ task }, { idempotencyKey, signal }) {
    const response = await fetch(url, { method: "POST", headers: { key: idempotencyKey }, body: String(task), signal })
    const answer = await response.text()
    if (blocksUntil !== undefined) while (!existsSync(blocksUntil)) Atomics.wait(never, 0, 0, 10)
    return answer
  },
})

const made: ToolwrightOptions = { cwd, backend, tools: [pay], runs: { database } }
const toolwright = await createToolwright(made)
const log = (line: string): void => void process.stdout.write(`${line}\n`)
const worker = await startTaskWorker({ toolwright, made, lease, idle: 50, log })
process.on("SIGTERM", () => void worker.drain().then(() => toolwright.close()))
log("ready")
const queue = await toolwright.tasks.open()
for (const input of queues) await queue.add({ agent: "assistant", input, workspace: cwd, maxAttempts: 1_000 })

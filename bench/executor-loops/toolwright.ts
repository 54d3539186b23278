import type { Backend, InferEvent } from "@toolwright/backends"
import { openDatabase, runLog } from "@toolwright/store"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DynamicExecutor, recordRun, type ExecutorOptions } from "@toolwright/agents"
import { defineTool, ToolRegistry, type RunEvent } from "@toolwright/toolbox"
import { argumentsOf, DESCRIPTION, PROMPT, type Contestant } from "./contestant.ts"

/** Ours, through the whole pipeline: streamed events, validation, gate and loop detector. */
export const contestant: Contestant = { prepare: async () => loop() }

/** The same, with every event in a log in SQLite, as `toolwright run` keeps it. */
export const recorded: Contestant = {
  async prepare() {
    const folder = mkdtempSync(join(tmpdir(), "bench-executor-"))
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
    const log = runLog(await openDatabase(join(folder, "log.sqlite")))
    return loop({ recorder: (given) => recordRun(log, { surface: "bench" }, given) })
  },
}

function loop(more: Pick<ExecutorOptions, "recorder"> = {}) {
  return async (steps: number): Promise<{ calls: number; held: unknown }> => {
    let calls = 0
    const registry = new ToolRegistry()
    registry.register(
      defineTool({
        name: "add",
        description: DESCRIPTION,
        parameters: {
          type: "object",
          properties: { a: { type: "number" }, b: { type: "number" } },
          required: ["a", "b"],
        },
        execute: ({ a, b }) => {
          calls++
          return (a as number) + (b as number)
        },
      }),
    )
    const backend: Backend = {
      kind: "mock",
      abilities: { nativeTools: true, grammar: false, jsonSchema: false },
      modelName: () => "mock",
      async *infer(): AsyncGenerator<InferEvent> {
        if (calls >= steps) {
          yield { type: "text-delta", text: "Done." }
          yield { type: "end", finishReason: "stop" }
          return
        }
        yield { type: "call-delta", index: 0, id: `c${calls}`, name: "add" }
        yield { type: "call-delta", index: 0, arguments: JSON.stringify(argumentsOf(calls)) }
        yield { type: "end", finishReason: "tool-calls", usage: { inputTokens: 10, outputTokens: 5 } }
      },
    }
    const executor = new DynamicExecutor({ tools: registry, backend, maxRounds: steps + 1, ...more })
    const run = executor.run({ task: PROMPT })
    let last: RunEvent | undefined
    while (last?.type !== "run-end") last = (await run.next()).value as RunEvent
    if (!last.summary.success) throw new Error(`the run failed: ${JSON.stringify(last)}`)
    // The run stands before its end, so that what it holds of its conversation counts as held.
    return { calls, held: run }
  }
}

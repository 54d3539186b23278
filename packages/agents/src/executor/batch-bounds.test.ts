import { CallLimits, defineTool, ToolRegistry, type ToolResult } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { Batch } from "./batch.ts"

test("of hundreds of reads in one reply a few run at once, and none once there is more than anybody could read", async () => {
  let running = 0
  let most = 0
  let runs = 0
  const tools = new ToolRegistry()
  tools.register(
    defineTool({
      name: "read",
      description: "",
      parameters: { type: "object" },
      effects: { readOnly: true },
      execute: async () => {
        runs++
        most = Math.max(most, ++running)
        await new Promise((resolve) => setImmediate(resolve))
        running--
        return "x".repeat(1024 * 1024)
      },
    }),
  )
  const calls = Array.from({ length: 600 }, (_, index) => ({ id: `${index}`, name: "read", arguments: {} }))
  const results: ToolResult[] = []
  const batch = new Batch(calls, {
    tools,
    runId: "run",
    limits: new CallLimits(undefined),
    middleware: [],
    onResult: (_call, result) => void results.push(result),
  })
  let step = await batch.next()
  while (!step.done) step = await batch.next()
  expect(most).toBe(8)
  expect(runs).toBeLessThan(50)
  expect(step.executed.map(({ call }) => call.id)).toEqual(calls.map(({ id }) => id))
  expect(results).toHaveLength(600)
  expect(results.at(-1)?.error?.code).toBe("TOO_MUCH_AT_ONCE")
})

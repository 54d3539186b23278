import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, executeCall, failure, ToolRegistry, type RunEvent } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createToolwright, type ToolwrightOptions } from "../toolwright.ts"
import type { CallLimit } from "../configuration/rules.ts"
import { limitCalls } from "./call-limits.ts"

const parameters = { type: "object", properties: { n: { type: "integer" } } } as const

/** A tool that counts how often it was carried out, and fails while it is told to. */
function counting(name: string) {
  const seen = { calls: 0, fails: false }
  const tool = defineTool({
    name,
    description: "",
    parameters,
    execute() {
      seen.calls++
      return seen.fails ? failure({ code: "TOOL_FAILED", message: "no" }) : { calls: seen.calls }
    },
  })
  return { seen, tool }
}

function caller(limits: Record<string, CallLimit>, clock: { now: number }, ...names: string[]) {
  const tools = names.map(counting)
  const registry = new ToolRegistry()
  for (const { tool } of tools) registry.register(tool)
  const middleware = [limitCalls(limits, () => clock.now)]
  const call = async (name: string, runId?: string, phase?: string) => {
    const options = {
      middleware,
      ...(runId === undefined ? {} : { runId }),
      ...(phase === undefined ? {} : { phase }),
    }
    const { success, error } = await executeCall(registry, { name, arguments: {} }, options)
    return success ? "done" : error!.code
  }
  return { call, seen: tools.map(({ seen }) => seen) }
}

test("a tool that was called as often as a minute lets it waits for the first of them to be over", async () => {
  const clock = { now: 0 }
  const { call, seen } = caller({ "web_*": { perMinute: 2 } }, clock, "web_search", "web_page", "other")
  expect(await call("web_search")).toBe("done")
  clock.now = 30_000
  expect(await call("web_search", "run-1")).toBe("done")
  expect(await call("web_search", "run-2")).toBe("CALL_LIMIT")
  expect([await call("web_page"), await call("other"), await call("other"), await call("other")]).toEqual(
    Array.from({ length: 4 }, () => "done"),
  )
  clock.now = 60_001
  expect(await call("web_search")).toBe("done")
  expect(await call("web_search")).toBe("CALL_LIMIT")
  expect(seen[0]!.calls).toBe(3)
})

test("a tool that failed too often in one phase may be called in the next", async () => {
  const { call, seen } = caller({ a: { failures: 2, perRun: 4 } }, { now: 0 }, "a")
  seen[0]!.fails = true
  const first = [await call("a", "r", "look"), await call("a", "r", "look"), await call("a", "r", "look")]
  expect(first).toEqual(["TOOL_FAILED", "TOOL_FAILED", "CALL_LIMIT"])
  seen[0]!.fails = false
  expect([await call("a", "r", "mend"), await call("a", "r", "mend")]).toEqual(["done", "done"])
  expect(await call("a", "r", "mend"), "calls are counted over the run").toBe("CALL_LIMIT")
})

test("a run has its own count, and calls without a run have none", async () => {
  const { call, seen } = caller({ "*": { perRun: 5 }, a: { perRun: 1 } }, { now: 0 }, "a")
  expect([await call("a", "one"), await call("a", "one"), await call("a", "two")]).toEqual([
    "done",
    "CALL_LIMIT",
    "done",
  ])
  expect([await call("a"), await call("a")]).toEqual(["done", "done"])
  expect(seen[0]!.calls).toBe(4)
})

test("a tool that fails three times in a row is withheld from its run, and success begins anew", async () => {
  const { call, seen } = caller({ a: { failures: 3 } }, { now: 0 }, "a")
  seen[0]!.fails = true
  expect([await call("a", "one"), await call("a", "one")]).toEqual(["TOOL_FAILED", "TOOL_FAILED"])
  seen[0]!.fails = false
  expect(await call("a", "one")).toBe("done")
  seen[0]!.fails = true
  for (let n = 0; n < 3; n++) expect(await call("a", "one")).toBe("TOOL_FAILED")
  expect(await call("a", "one")).toBe("CALL_LIMIT")
  expect(await call("a", "two")).toBe("TOOL_FAILED")
  expect(seen[0]!.calls).toBe(7)
})

test.each([
  [{ a: { perHour: 1 } }, "'a' has no limit 'perHour'"],
  [{ a: { perRun: 0 } }, "'a' needs a whole number above 0 for perRun"],
  [{ a: 3 }, "'a' must be a mapping"],
])("limits that are none are told: %j", (limits, message) => {
  expect(() => limitCalls(limits as never)).toThrow(message)
})

/** Runs a scripted model that calls the tools by turns, and gives the ends of its calls. */
async function ends(options: ToolwrightOptions, calls: readonly string[], agent?: string): Promise<string[]> {
  const backend = createScriptedBackend({
    steps: [{ reply: { calls: calls.map((name) => ({ name, arguments: {} })) } }, { reply: "That is all." }],
  })
  await using toolwright = await createToolwright({ ...options, backend, record: false })
  const events: RunEvent[] = []
  for await (const event of toolwright.run("count", agent === undefined ? {} : { agent })) events.push(event)
  return events.flatMap((event) =>
    event.type === "tool-end" ? (event.result.success ? "done" : event.result.error.code) : [],
  )
}

test("the configuration's limits hold in runs", async () => {
  const { seen, tool } = counting("a")
  const tools = [tool]
  expect(await ends({ tools, calls: { limits: { a: { perRun: 2 } } } }, ["a", "a", "a"])).toEqual([
    "done",
    "done",
    "CALL_LIMIT",
  ])
  expect(seen.calls).toBe(2)
})

test("an agent has rules of its own, beside those for all", async () => {
  const a = counting("a")
  const b = counting("b")
  const tools = [a.tool, b.tool]
  const permissions = { deny: ["b"], agents: { assistant: { deny: ["a"], allow: ["b"] }, other: { deny: ["*"] } } }
  expect(await ends({ tools, permissions }, ["a", "b"])).toEqual(["PERMISSION_DENIED", "PERMISSION_DENIED"])
  expect(await ends({ tools, permissions: { agents: { other: { deny: ["*"] } } } }, ["a", "b"])).toEqual([
    "done",
    "done",
  ])
  expect([a.seen.calls, b.seen.calls]).toEqual([1, 1])
  await expect(createToolwright({ tools, permissions: { agents: { a: { deny: "x" } } } as never })).rejects.toThrow(
    "needs a list of texts for deny",
  )
})

import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { expect, test, vi } from "vitest"
import { HttpMCPClient } from "../import/http-client.ts"
import { serveRegistry } from "../testing/serve-registry.ts"

/** A registry whose one tool waits for its name to be let go, and says who called it. */
function waitingTools() {
  const letGo = new Map<string, () => void>()
  const aborted: string[] = []
  const registry = new ToolRegistry()
  registry.register(
    defineTool({
      name: "wait",
      description: "Waits",
      parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
      outputSchema: { type: "object", properties: { who: {}, caller: {}, key: {} } },
      execute: ({ who }, { signal, progress, caller, idempotencyKey: key }) => {
        const name = String(who)
        progress({ message: `begun for ${name}` })
        return new Promise((resolve) => {
          letGo.set(name, () => resolve({ who: name, caller, key }))
          signal.addEventListener("abort", () => aborted.push(name))
        })
      },
    }),
  )
  return { registry, letGo, aborted }
}

test("two clients at once are kept apart: results, progress, cancelling, keys and names", async () => {
  const { registry, letGo, aborted } = waitingTools()
  await using server = await serveRegistry({ tools: registry })
  const told: Record<string, unknown[]> = { ann: [], ben: [] }
  const clientOf = (name: string) =>
    HttpMCPClient.create({ name, url: server.url, headers: { authorization: `Bearer ${name}` } })
  await using ann = await clientOf("ann")
  await using ben = await clientOf("ben")
  const stop = new AbortController()
  const calling = (client: HttpMCPClient, who: string, signal = new AbortController().signal) =>
    client.callTool("wait", { who }, { signal, progress: (step) => told[who]!.push(step), idempotencyKey: "same" })

  const [first, second] = [calling(ann, "ann", stop.signal), calling(ben, "ben")]
  await vi.waitFor(() => expect([...letGo.keys()].toSorted()).toEqual(["ann", "ben"]))
  stop.abort()
  const left = await first.catch((error: unknown) => ({ success: false, error }))
  expect(left.success).toBe(false)
  await vi.waitFor(() => expect(aborted).toEqual(["ann"]))
  letGo.get("ben")!()
  expect((await second).data).toEqual({ who: "ben", caller: "Bearer ben", key: "Bearer ben/same" })
  expect(JSON.stringify(told.ben)).toContain("begun for ben")
  expect(JSON.stringify(told.ben)).not.toContain("ann")
  expect(JSON.stringify(told.ann)).not.toContain("ben")

  // Whoever broke a call off is served on, and the answers of both come to whom they belong in any order.
  letGo.clear()
  const [third, fourth] = [calling(ann, "ann"), calling(ben, "ben")]
  await vi.waitFor(() => expect([...letGo.keys()].toSorted()).toEqual(["ann", "ben"]))
  letGo.get("ben")!()
  expect((await fourth).data).toMatchObject({ who: "ben" })
  letGo.get("ann")!()
  expect((await third).data).toEqual({ who: "ann", caller: "Bearer ann", key: "Bearer ann/same" })
})

test("a tool that tells its steps in a loop is not told of step by step, nor at any length", async () => {
  const registry = new ToolRegistry()
  registry.register(
    defineTool({
      name: "busy",
      description: "Is busy",
      parameters: { type: "object" },
      execute: (_, { progress }) => {
        for (let step = 1; step <= 100_000; step++) progress({ message: "x".repeat(10_000), progress: step })
        return "done"
      },
    }),
  )
  await using server = await serveRegistry({ tools: registry })
  const told: { message?: string }[] = []
  await using client = await HttpMCPClient.create({ name: "ann", url: server.url })
  const { signal } = new AbortController()
  const result = await client.callTool("busy", {}, { signal, progress: (step) => told.push(step) })
  expect(result.success).toBe(true)
  // The first hundred, and twenty for each second that it took.
  expect(told.length).toBeGreaterThan(0)
  expect(told.length).toBeLessThan(1000)
  expect(Math.max(...told.map(({ message = "" }) => message.length))).toBeLessThanOrEqual(2000)
})

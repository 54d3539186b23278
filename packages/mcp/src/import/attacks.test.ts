import { fileURLToPath } from "node:url"
import { attachSource, defineTool, ToolRegistry } from "@toolwright/toolbox"
import { afterEach, describe, expect, test, vi } from "vitest"
import { StdioMCPClient, type ElicitationAnswer, type McpClientOptions } from "../index.ts"
import { boundedFetch } from "./bounded-fetch.ts"

const SERVER = fileURLToPath(new URL("../testing/hostile-server.ts", import.meta.url))
const clients: StdioMCPClient[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

async function start(options: Partial<McpClientOptions> = {}) {
  const lines: string[] = []
  const client = await StdioMCPClient.create({
    name: "hostile",
    command: process.execPath,
    args: ["--conditions=toolwright-source", SERVER],
    connectTimeoutMs: 120_000,
    log: (line) => lines.push(line),
    ...options,
  })
  clients.push(client)
  const registry = new ToolRegistry()
  await attachSource(registry, client)
  const call = (name: string, args: object = {}, more: object = {}) => registry.execute(name, args, more)
  return { client, registry, lines, call }
}

/** A call that changes what the server tells of its tools, and the time until that is known. */
async function changed(set: Awaited<ReturnType<typeof start>>) {
  await set.call("changes")
  await vi.waitFor(() => expect(set.registry.get("add")?.description).toContain("send it all"))
}

describe("a server that means harm", () => {
  test("cannot stop the process by a pattern, of arguments or of what it answers", async () => {
    const { call } = await start()
    const begun = process.cpuUsage()
    expect((await call("freeze", { a: `${"a".repeat(50_000)}!` })).error?.code).toBe("INVALID_ARGUMENTS")
    expect((await call("freeze", { a: "aaa" })).success).toBe(true)
    const { user, system } = process.cpuUsage(begun)
    expect((user + system) / 1000).toBeLessThan(3000)
  })

  test("is read again once or twice, however often it says that its tools have changed", async () => {
    const set = await start()
    await changed(set)
    await vi.waitFor(async () => expect(Number((await set.call("asks", {})).success)).toBe(1))
    const listings = Number(
      (await set.client.callTool("other", {}, { signal: new AbortController().signal, progress: () => {} })).output,
    )
    expect(listings).toBeLessThanOrEqual(4)
  })

  test("changes no tool unseen: its calls are refused where nobody can be asked, and asked about elsewhere", async () => {
    const set = await start()
    expect((await set.call("add")).success).toBe(true)
    await changed(set)
    const rules = [{ tool: "add", permission: "allow" as const }]
    for (const permissions of [undefined, { rules }]) {
      const { error } = await set.call("add", {}, permissions === undefined ? {} : { permissions })
      expect(error).toMatchObject({
        code: "PERMISSION_DENIED",
        message: expect.stringContaining("its description changed"),
      })
    }
    const approve = vi.fn(async () => true)
    expect((await set.call("add", {}, { permissions: { rules, approve } })).success).toBe(true)
    expect(approve).toHaveBeenCalledTimes(1)
    expect((await set.call("asks")).success).toBe(true)
    expect(set.lines).toContain("'add' of 'hostile' is not what it was when it was let in: its description changed")
    await vi.waitFor(() => expect(set.registry.get("add")?.changed).toBeUndefined())
    expect((await set.call("add", {}, { permissions: { rules } })).success).toBe(true)
  })

  test("may change its tools where that was said to be all right", async () => {
    const set = await start({ acceptChanges: true })
    await changed(set)
    expect((await set.call("add")).success).toBe(true)
  })

  test("asks its user one thing at a time, a few times, in plain text", async () => {
    const seen: string[] = []
    const answers: (() => void)[] = []
    const elicit = (request: { message: string }) => {
      seen.push(request.message)
      return new Promise<ElicitationAnswer>((resolve) => answers.push(() => resolve({ action: "decline" })))
    }
    const { call } = await start({ elicit })
    expect((await call("asks")).success).toBe(true)
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatch(/^password\? \[2Jx+$/)
    answers[0]!()
  })

  test("that asks without end is closed", async () => {
    const { call, lines } = await start()
    const before = process.memoryUsage.rss()
    expect((await call("floods")).error?.code).toBe("SOURCE_UNAVAILABLE")
    expect(lines.filter((line) => line.includes("asks for more than can be answered"))).toHaveLength(1)
    expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000)
  })

  test("names nothing that could forge a metric or move a cursor", async () => {
    const { registry, lines, call } = await start()
    for (const { name, description } of registry.list()) {
      expect(name).toMatch(/^[\p{L}\p{N}_./-]+$/u)
      expect(description).not.toMatch(/[\u0000-\u0009\u001b\u202e]/)
    }
    const odd = registry.list().find(({ name }) => name.startsWith("x_"))!
    expect((await call(odd.name)).success).toBe(true)
    expect(lines.join("")).not.toMatch(/[\u0000-\u001f]/)
    expect(lines.join(" ")).toContain("Left out 'huge' of 'hostile'")
  })

  test("lists what is no tool: that is left out, and the others are there", async () => {
    const { registry, lines, call } = await start()
    expect((await call("add")).success).toBe(true)
    expect(
      registry
        .list()
        .map(({ name }) => name)
        .filter((name) => /odd|deep/.test(name)),
    ).toEqual([])
    expect(lines).toContain("Left out 'odd_description' of 'hostile': its description is not what the protocol says")
    expect(lines.join("\n")).toMatch(/Left out 'deep' of 'hostile': .* nested too deeply/)
  })

  test("answers with data that is nested without end: a failure, and nothing recurs into it", async () => {
    const { call } = await start()
    const result = await call("sinks")
    expect(result.error?.code).toBe("RESULT_TOO_LARGE")
    expect(() => JSON.stringify(result)).not.toThrow()
  })

  test("fails with its own message, in plain text", async () => {
    const { call } = await start()
    expect((await call("fails")).error).toMatchObject({
      code: "TOOL_FAILED",
      message: expect.stringContaining("The database is"),
    })
  })
})

test("a name that is taken gets the server's before it, and that is said", async () => {
  const { client } = await start()
  const registry = new ToolRegistry()
  registry.register(
    defineTool({ name: "add", description: "Mine", parameters: { type: "object" }, execute: () => "mine" }),
  )
  const said: string[] = []
  await attachSource(registry, client, { onTaken: (tool, name) => said.push(`${tool.name} → ${name}`) })
  expect(said).toEqual(["add → hostile_add"])
  expect((await registry.execute("add", {})).output).toBe("mine")
  expect((await registry.execute("hostile_add", {})).output).toBe("1")
})

test("an answer over HTTP that never ends breaks off", async () => {
  const endless = new ReadableStream<Uint8Array>({ pull: (controller) => controller.enqueue(new Uint8Array(64_000)) })
  const original = globalThis.fetch
  globalThis.fetch = async () => new Response(endless)
  try {
    await expect((await boundedFetch(1_000_000, () => {})("http://localhost")).text()).rejects.toThrow(
      "more than 1000000 bytes",
    )
  } finally {
    globalThis.fetch = original
  }
})

import { fileURLToPath } from "node:url"
import { attachSource, ToolRegistry } from "@toolwright/toolbox"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { StdioMCPClient } from "../index.ts"

const SERVER = fileURLToPath(new URL("../testing/users-server.ts", import.meta.url))
const context = { signal: new AbortController().signal, progress: () => {} }
const start = (command = process.execPath, args = ["--conditions=toolwright-source", SERVER, "hostile"]) =>
  StdioMCPClient.create({ name: "hostile", command, args, connectTimeoutMs: 120_000 })
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

let client: StdioMCPClient
beforeEach(async () => void (client = await start()))
afterEach(() => client.close())

const pidOf = async () => Number((await client.callTool("pid", {}, context)).output)

describe("a server over stdio", () => {
  test("that is killed in mid-call gives a result at once, and the other servers go on", async () => {
    await using other = await StdioMCPClient.create({
      name: "other",
      command: process.execPath,
      args: ["--conditions=toolwright-source", SERVER],
      connectTimeoutMs: 120_000,
    })
    const beside = other.callTool("web_search", { query: "x" }, context)
    // Neither at the tool's time limit, which would say so, nor never.
    const [slow, killed] = await Promise.all([
      client.callTool("slow", {}, context),
      client.callTool("kill", {}, context),
    ])
    for (const { error } of [slow, killed])
      expect(error).toMatchObject({
        code: "SOURCE_UNAVAILABLE",
        message: expect.stringContaining("may or may not have taken effect"),
      })
    expect((await beside).output).toBe("found x")
    expect((await client.callTool("web_search", { query: "again" }, context)).output).toBe("found again")
  })

  test("that dies while a process of its own holds the pipes open is still seen to be gone, and takes that one along", async () => {
    const child = Number((await client.callTool("family", {}, context)).output)
    expect(isAlive(child)).toBe(true)
    expect((await client.callTool("kill", {}, context)).error?.code).toBe("SOURCE_UNAVAILABLE")
    await vi.waitFor(() => expect(isAlive(child)).toBe(false))
  })

  test("leaves no process when it is closed, nor does what it was started through", async () => {
    await using wrapped = await start("sh", [
      "-c",
      `"${process.execPath}" --conditions=toolwright-source "${SERVER}" hostile; sleep 300`,
    ])
    const pids = [
      await pidOf(),
      Number((await wrapped.callTool("pid", {}, context)).output),
      Number((await wrapped.callTool("family", {}, context)).output),
    ]
    await Promise.all([client.close(), wrapped.close()])
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]))
  })

  test("may answer with twelve megabytes, and is still there afterwards", async () => {
    expect((await client.callTool("large", {}, context)).output).toHaveLength(12 * 1024 * 1024)
    expect((await client.callTool("web_search", { query: "x" }, context)).output).toBe("found x")
  })

  test("that never answers is given up at the tool's time limit, and not waited for", async () => {
    const registry = new ToolRegistry()
    await attachSource(registry, client)
    expect((await registry.execute("slow", {}, { timeoutMs: 100 })).error?.code).toBe("TIMEOUT")
    expect((await registry.execute("web_search", { query: "x" })).output).toBe("found x")
  })
})

import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { CallGate, createResultCache, defineTool, ToolRegistry, type ToolDefinition } from "@toolwright/toolbox"
import { afterEach, describe, expect, test, vi } from "vitest"
import { createApp, forward, listen, type RunningServer, type ServerOptions } from "./index.ts"

const open: RunningServer[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

async function serve(tools: ToolDefinition[], options: Partial<ServerOptions> = {}, stallMs = 30_000) {
  const registry = new ToolRegistry()
  for (const tool of tools) registry.register(tool)
  const app = createApp({ tools: registry, ...options })
  const server = await listen(app, { port: 0, secured: false, drainMs: 10, stallMs })
  open.push(server)
  const post = (path: string, body: unknown = {}, init: RequestInit = {}) =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      ...init,
      headers: { "content-type": "application/json", ...init.headers },
    })
  return { ...server, url: server.url, post }
}

const raw = async (port: number, text: string): Promise<Socket> => {
  const socket = connect(port, "127.0.0.1")
  socket.on("error", () => {})
  await once(socket, "connect")
  socket.write(text)
  return socket
}
const head = (method: string, path: string, more = "") => `${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`

const tool = (name: string, run: ToolDefinition["handler"], more: object = {}): ToolDefinition =>
  defineTool({ name, description: "", parameters: { type: "object" }, execute: run as never, ...more })

function held() {
  let go: (() => void) | undefined
  const gate = new Promise<void>((resolve) => (go = resolve))
  const seen = { runs: 0, aborted: 0 }
  const slow = tool("slow", async (_args, { signal }) => {
    seen.runs++
    signal.addEventListener("abort", () => seen.aborted++)
    await Promise.race([gate, once(signal, "abort")])
    return seen.runs as never
  })
  return { slow, seen, go: () => go?.() }
}

describe("an Idempotency-Key", () => {
  test("does not keep a first try that its client gave up", async () => {
    const { slow, seen, go } = held()
    const { post } = await serve([slow])
    const key = { headers: { "idempotency-key": "k" } }
    const leaving = new AbortController()
    const first = post("/tools/slow", {}, { ...key, signal: leaving.signal }).catch(() => "gone")
    await vi.waitFor(() => expect(seen.runs).toBe(1))
    leaving.abort()
    expect(await first).toBe("gone")
    await vi.waitFor(() => expect(seen.aborted).toBe(1))
    const second = post("/tools/slow", {}, key)
    await vi.waitFor(() => expect(seen.runs).toBe(2))
    go()
    expect(await (await second).json()).toMatchObject({ success: true, result: 2 })
  })

  test("goes on while somebody else waits for its answer", async () => {
    const { slow, seen, go } = held()
    const { post } = await serve([slow])
    const key = { headers: { "idempotency-key": "k" } }
    const leaving = new AbortController()
    void post("/tools/slow", {}, { ...key, signal: leaving.signal }).catch(() => {})
    await vi.waitFor(() => expect(seen.runs).toBe(1))
    const other = post("/tools/slow", {}, key)
    const probe = post("/tools/none")
    expect((await probe).status).toBe(404)
    leaving.abort()
    go()
    expect(await (await other).json()).toMatchObject({ success: true, result: 1 })
    expect(seen).toEqual({ runs: 1, aborted: 0 })
  })

  test("holds for event streams too", async () => {
    const runs = vi.fn(() => "ran")
    const { post } = await serve([tool("count", runs as never)])
    const stream = { headers: { accept: "text/event-stream", "idempotency-key": "k" } }
    const texts = [
      await (await post("/tools/count", {}, stream)).text(),
      await (await post("/tools/count", {}, stream)).text(),
      await (await post("/tools/count", {}, { headers: { "idempotency-key": "k" } })).text(),
    ]
    for (const text of texts) expect(text).toContain('"result":"ran"')
    expect(runs).toHaveBeenCalledTimes(1)
  })

  test("keeps no more than its bytes, and carries nothing out twice for that", async () => {
    const runs = vi.fn(() => "x".repeat(3_000_000))
    const { post } = await serve([tool("large", runs as never)])
    const call = async (key: number) =>
      (await post("/tools/large", {}, { headers: { "idempotency-key": `${key}` } })).status
    for (let key = 0; key < 4; key++) expect(await call(key)).toBe(200)
    expect(await call(0)).toBe(409)
    expect(await call(3)).toBe(200)
    expect(runs).toHaveBeenCalledTimes(4)
  })
})

describe("what callers take is bounded", () => {
  test("one of several tokens cannot take all calls", async () => {
    const { slow, seen, go } = held()
    const tokens = [{ token: "first-token" }, { token: "second-token" }]
    const { post } = await serve([slow], { tokens, maxConcurrentCalls: 4 })
    const as = (token: string) => post("/tools/slow", {}, { headers: { authorization: `Bearer ${token}` } })
    const running = [as("first-token"), as("first-token")]
    await vi.waitFor(() => expect(seen.runs).toBe(2))
    const refused = await as("first-token")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"])
    const other = as("second-token")
    await vi.waitFor(() => expect(seen.runs).toBe(3))
    go()
    for (const answer of [...running, other]) expect((await answer).status).toBe(200)
  })

  /** A server with two connections that ask for much, and read nothing of it. */
  async function unread(stallMs?: number) {
    const gate = new CallGate({ maxBytes: 6_000_000 })
    const runs = vi.fn(() => "x".repeat(5_000_000))
    const { port, post } = await serve([tool("large", runs as never)], { gate }, stallMs)
    // What the first request waits for, as what it loads, is no matter of these.
    await (await post("/tools/large")).text()
    const request = head("POST", "/tools/large", "content-type: application/json\r\ncontent-length: 2\r\n") + "{}"
    const silent = await Promise.all([raw(port, request), raw(port, request)])
    for (const socket of silent) socket.pause()
    return { gate, runs, post, leave: () => silent.forEach((socket) => socket.destroy()) }
  }

  test("answers that nobody reads are counted", async () => {
    const { gate, post, leave } = await unread()
    await vi.waitFor(() => expect(gate.bytes).toBeGreaterThan(6_000_000))
    const refused = await post("/tools/large")
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"])
    leave()
    await vi.waitFor(() => expect(gate.bytes).toBe(0))
    expect((await post("/tools/large")).status).toBe(200)
  })

  test("connections end on which nobody reads an answer", async () => {
    const { gate, runs, post, leave } = await unread(500)
    await vi.waitFor(() => expect(runs.mock.calls.length).toBeGreaterThan(1))
    await vi.waitFor(() => expect(gate.bytes).toBe(0))
    expect((await post("/tools/large")).status).toBe(200)
    leave()
  })

  test("bodies that come at the same time are counted before they are read", async () => {
    const gate = new CallGate({ maxBytes: 1_000_000 })
    const { port, post } = await serve([tool("echo", () => "ran" as never)], { gate })
    const request = head("POST", "/tools/echo", "content-type: application/json\r\ncontent-length: 900000\r\n")
    const slow = await raw(port, request)
    await vi.waitFor(() => expect(gate.bytes).toBe(900_000))
    expect((await post("/tools/echo", { text: "x".repeat(200_000) })).status).toBe(503)
    slow.destroy()
    await vi.waitFor(() => expect(gate.bytes).toBe(0))
  })

  test("a connection that asks and asks, and reads nothing, ends before any token is looked at", async () => {
    const { port } = await serve([], { tokens: [{ token: "a-token-of-theirs" }] })
    const socket = await raw(port, head("GET", "/docs").repeat(5000))
    socket.resume()
    await new Promise((resolve) => socket.once("close", resolve))
    expect(socket.bytesRead).toBeLessThan(2_000_000)
  })

  test("a token is asked for before a body is read", async () => {
    const { port } = await serve([], { tokens: [{ token: "a-token-of-theirs" }] })
    const request = head("POST", "/tools/echo", "content-type: application/json\r\ncontent-length: 4000000\r\n")
    const socket = await raw(port, request)
    const [answer] = (await once(socket, "data")) as [Buffer]
    expect(String(answer)).toContain("HTTP/1.1 401")
    socket.destroy()
  })

  test("another surface has the same limits, and is given a body that was read within them", async () => {
    const gate = new CallGate()
    const app = createApp({ tools: new ToolRegistry(), gate, tokens: [{ token: "first-token" }] }, (application) =>
      forward(application, "/mcp", gate, async (_request, { body, caller }) => Response.json({ body, caller }), {
        maxBodyBytes: 100,
      }),
    )
    const ask = async (body: string, token: string) =>
      app.request("http://localhost/mcp", {
        method: "POST",
        body,
        headers: { host: "localhost", "content-type": "application/json", authorization: `Bearer ${token}` },
      })
    expect((await ask("{}", "another")).status).toBe(401)
    expect((await ask(JSON.stringify("x".repeat(200)), "first-token")).status).toBe(413)
    expect(await (await ask("[1]", "first-token")).json()).toEqual({
      body: [1],
      caller: expect.stringMatching(/^.{22}$/),
    })
  })

  test("reading waits for answers to be read, however many calls were let in", async () => {
    const gate = new CallGate({ maxBytes: 60_000_000 })
    let most = 0
    const large = tool(
      "large",
      () => {
        most = Math.max(most, gate.bytes)
        return "x".repeat(2_000_000) as never
      },
      { effects: { readOnly: true } },
    )
    const { post } = await serve([large], { gate })
    const answers = await Promise.all(Array.from({ length: 30 }, async () => (await post("/tools/large")).text()))
    expect(answers.map((text) => text.length > 2_000_000)).toEqual(answers.map(() => true))
    expect(most).toBeLessThan(15_000_000 + 8 * 2_100_000)
    await vi.waitFor(() => expect(gate.bytes).toBe(0))
  })

  test("tools that only read this machine run a few at a time", async () => {
    const { slow, seen, go } = held()
    const { url, post } = await serve([{ ...slow, effects: { readOnly: true } }], {
      gate: new CallGate({ maxLocalReads: 3 }),
    })
    const answers = Array.from({ length: 40 }, () => post("/tools/slow"))
    await vi.waitFor(async () =>
      expect(await (await fetch(`${url}/metrics`)).text()).toContain("toolwright_tool_calls_running 40"),
    )
    expect(seen.runs).toBe(3)
    go()
    for (const answer of answers) expect((await answer).status).toBe(200)
    expect(seen.runs).toBe(40)
  })
})

describe("callers are apart", () => {
  test("nothing that was read for one token is served to another from the cache", async () => {
    const run = vi.fn(() => "mine")
    const read = tool("read", run as never, { effects: { readOnly: true, idempotent: true } })
    const tokens = [{ token: "first-token" }, { token: "second-token" }]
    const { post } = await serve([read], { tokens, cache: createResultCache() })
    for (const token of ["first-token", "first-token", "second-token"])
      await (await post("/tools/read", {}, { headers: { authorization: `Bearer ${token}` } })).text()
    expect(run).toHaveBeenCalledTimes(2)
  })

  test("a tool is told who calls where tokens tell, and nothing where none do", async () => {
    const seen: unknown[] = []
    const look = tool("look", (_args, { caller }) => void seen.push(caller) as never)
    const { post } = await serve([look], { tokens: [{ token: "first-token" }] })
    await post("/tools/look", {}, { headers: { authorization: "Bearer first-token" } })
    const anonymous = await serve([look])
    await anonymous.post("/tools/look")
    expect(seen).toEqual([expect.stringMatching(/^.{22}$/), undefined])
  })

  test("every origin and a token do not go together", () => {
    expect(() =>
      createApp({ tools: new ToolRegistry(), allowedOrigins: ["*"], tokens: [{ token: "first-token" }] }),
    ).toThrow(/every origin/)
  })
})

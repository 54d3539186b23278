import { Server } from "@modelcontextprotocol/server"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { fileURLToPath } from "node:url"
import { attachSource, ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test } from "vitest"
import { connectMcpServer, readMcpServers } from "../index.ts"
import { withVariables } from "./variables.ts"

type Message = Parameters<NonNullable<Parameters<Server["connect"]>[0]["onmessage"]>>[0]

/** The official server behind the transport of before: events by GET, messages by POST where the first event says. */
async function serveSse(newerAnswers = 405) {
  const seen: { method: string; authorization: string | undefined }[] = []
  const sessions = new Map<string, (message: Message) => void>()

  async function open(response: ServerResponse): Promise<void> {
    const server = new Server({ name: "older", version: "1.0.0" }, { capabilities: { tools: {} } })
    const inputSchema = { type: "object" as const, properties: { word: { type: "string" } }, required: ["word"] }
    server.setRequestHandler("tools/list", () => ({
      tools: [{ name: "say", description: "Says a word", inputSchema }],
    }))
    server.setRequestHandler("tools/call", ({ params }) => ({
      content: [{ type: "text", text: `said ${String(params.arguments?.word)}` }],
    }))
    const id = crypto.randomUUID()
    const transport: Parameters<Server["connect"]>[0] = {
      start: () => Promise.resolve(),
      send: (message) => Promise.resolve(void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)),
      close: () => Promise.resolve(void response.end()),
    }
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(`event: endpoint\ndata: /messages?sessionId=${id}\n\n`)
    await server.connect(transport)
    sessions.set(id, (message) => transport.onmessage?.(message))
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    seen.push({ method: request.method ?? "", authorization: request.headers.authorization })
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost")
    if (request.method === "GET" && pathname === "/sse") return open(response)
    const deliver = pathname === "/messages" ? sessions.get(searchParams.get("sessionId") ?? "") : undefined
    let text = ""
    for await (const piece of request) text += String(piece)
    if (deliver === undefined) return void response.writeHead(newerAnswers).end()
    response.writeHead(202).end("Accepted")
    deliver(JSON.parse(text) as Message)
  }

  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/sse`, seen }
}

async function sayHello(entry: object, variables: Record<string, string> = {}) {
  const [server] = readMcpServers({ mcpServers: { older: entry } })
  const client = await connectMcpServer(server!, { variables })
  onTestFinished(() => client.close())
  const registry = new ToolRegistry()
  await attachSource(registry, client, {}, () => {})
  return registry.execute("say", { word: "hello" })
}

describe("a server with the transport of before", () => {
  test.each([404, 405])("is found out where it answers a post with %i, and its tools are called", async (status) => {
    const { url, seen } = await serveSse(status)
    const result = await sayHello({ url, headers: { authorization: "Bearer ${TOKEN}" } }, { TOKEN: "t-1" })
    expect(JSON.stringify(result)).toContain("said hello")
    expect(seen[0]).toEqual({ method: "POST", authorization: "Bearer t-1" })
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(new Set(["Bearer t-1"]))
  })

  test("is asked in no other way where the file says so", async () => {
    const { url, seen } = await serveSse()
    expect(JSON.stringify(await sayHello({ type: "sse", url }))).toContain("said hello")
    expect(seen[0]!.method).toBe("GET")
  })

  test("is not looked for where the file says otherwise, or the server fails otherwise", async () => {
    const { url, seen } = await serveSse()
    await expect(sayHello({ type: "streamable-http", url })).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
    expect(seen.some(({ method }) => method === "GET")).toBe(false)
    const failing = await serveSse(500)
    await expect(sayHello({ url: failing.url })).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
    expect(failing.seen.some(({ method }) => method === "GET")).toBe(false)
  })
})

describe("variables in the configuration of a server", () => {
  const server = (more: object) => ({ name: "s", enabled: true, required: false, ...more })

  test("are replaced wherever hosts replace them, once", () => {
    const entry = {
      command: "${BIN}/tool",
      args: ["--root", "${ROOT:-/srv}", "${env:NESTED}", "$PLAIN ${no-name}"],
      env: { TOKEN: "${TOKEN}", PATH: "${BIN}:/bin" },
      cwd: "${EMPTY:-here}",
    }
    const env = { BIN: "/opt/bin", NESTED: "${TOKEN}", TOKEN: "t$1", EMPTY: "" }
    expect(withVariables(server(entry), env)).toEqual(
      server({
        command: "/opt/bin/tool",
        args: ["--root", "/srv", "${TOKEN}", "$PLAIN ${no-name}"],
        env: { TOKEN: "t$1", PATH: "/opt/bin:/bin" },
        cwd: "here",
      }),
    )
  })

  test("start a real server", async () => {
    const file = fileURLToPath(new URL("../testing/users-server.ts", import.meta.url))
    const entry = server({ command: "${NODE}", args: ["--conditions=toolwright-source", "${SERVER_FILE}"] })
    const variables = { NODE: process.execPath, SERVER_FILE: file }
    const client = await connectMcpServer(entry, { variables })
    onTestFinished(() => client.close())
    const registry = new ToolRegistry()
    await attachSource(registry, client, {}, () => {})
    expect(registry.list().map(({ name }) => name)).toContain("web_search")
  })

  test("that are not set are named, with what to do", async () => {
    const connecting = connectMcpServer(server({ url: "http://127.0.0.1:1/${PLACE}" }), { variables: {} })
    await expect(connecting).rejects.toMatchObject({
      code: "INVALID_CONFIGURATION",
      message: expect.stringMatching(/'s' needs .* PLACE, which is not set/) as string,
    })
  })
})

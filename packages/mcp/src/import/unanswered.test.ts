import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, onTestFinished, test } from "vitest"
import { HttpMCPClient, type HttpTransport } from "./http-client.ts"

interface Asked {
  id?: number
  method: string
  params?: { name?: string; _meta?: { progressToken?: number } }
}
type Answer = (response: ServerResponse, asked: Asked) => void

const EVENTS = { "content-type": "text/event-stream" }
const event = (message: object): string => `data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`
const RESULTS: Readonly<Record<string, object>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "x", version: "1" },
  },
  "tools/list": { tools: ["odd", "well"].map((name) => ({ name, inputSchema: { type: "object" } })) },
  "tools/call": { content: [{ type: "text", text: "well done" }] },
}

async function listening(handle: (request: IncomingMessage, response: ServerResponse, text: string) => void) {
  const http = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request) text += String(piece)
    handle(request, response, text)
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

/** A server whose tool `odd` is answered as one likes, and all else as it should be. */
async function serverWith(odd: Answer, resumed?: (response: ServerResponse, lastEvent: string) => void) {
  const calls: string[] = []
  const url = await listening((request, response, text) => {
    const lastEvent = request.headers["last-event-id"]
    if (request.method === "GET" && typeof lastEvent === "string" && resumed !== undefined)
      return resumed(response, lastEvent)
    const asked = (text === "" ? { method: "" } : JSON.parse(text)) as Asked
    if (asked.id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end()
    if (asked.method === "tools/call") calls.push(asked.params!.name!)
    if (asked.params?.name === "odd") return odd(response, asked)
    const result = RESULTS[asked.method]
    if (result === undefined) return void response.writeHead(400).end()
    response.writeHead(200, EVENTS).end(event({ id: asked.id, result }))
  })
  return { url, calls }
}

async function connected(url: string, transport?: HttpTransport) {
  const log: string[] = []
  const kind = transport === undefined ? {} : { transport }
  const client = await HttpMCPClient.create({ name: "far", url, ...kind, log: (line) => log.push(line) })
  onTestFinished(() => client.close())
  const call = (name: string) => client.callTool(name, {}, { signal: new AbortController().signal, progress: () => {} })
  return { client, call, log }
}

const WENT = {
  success: false,
  error: {
    code: "SOURCE_UNAVAILABLE",
    message: "The MCP server 'far' went away during the call of 'odd'; it may or may not have taken effect.",
    hint: expect.stringContaining("Check whether it did") as string,
  },
}

test.each<[string, Answer]>([
  ["ends at once", (response) => response.writeHead(200, EVENTS).end()],
  ["ends after a comment", (response) => response.writeHead(200, EVENTS).end(": still here\n\n")],
  [
    "ends after a step",
    (response, { params }) =>
      response.writeHead(200, EVENTS).end(
        event({
          method: "notifications/progress",
          params: { progressToken: params!._meta?.progressToken, progress: 1 },
        }),
      ),
  ],
  ["ends after another's answer", (response) => response.writeHead(200, EVENTS).end(event({ id: 77_777, result: {} }))],
  [
    "ends inside its answer",
    (response, { id }) => response.writeHead(200, EVENTS).end(event({ id, result: {} }).slice(0, -9)),
  ],
  [
    "breaks before its answer",
    (response) => {
      response.writeHead(200, EVENTS).write(": here\n\n", () => response.destroy())
    },
  ],
  [
    "has ids, and is taken up by nobody",
    (response) => response.writeHead(200, EVENTS).end("retry: 1\nid: 5\ndata: \n\n"),
  ],
])("a call whose stream %s ends with it, is made once, and the next connects anew", async (_, odd) => {
  const { url, calls } = await serverWith(odd)
  const { call, client } = await connected(url)
  expect(await call("odd")).toMatchObject(WENT)
  expect(await call("well")).toMatchObject({ success: true, output: "well done" })
  expect(calls).toEqual(["odd", "well"])
  expect(await client.list()).toHaveLength(2)
})

test("a call that a server says it took, and does not answer, ends with that", async () => {
  const { url, calls } = await serverWith((response) => response.writeHead(202).end())
  const { call } = await connected(url)
  expect(await call("odd")).toMatchObject({
    success: false,
    error: { message: expect.stringContaining("202") as string },
  })
  expect(await call("well")).toMatchObject({ success: true })
  expect(calls).toEqual(["odd", "well"])
})

test.each<[string, object, RegExp]>([
  ["to another request", { id: 77_777, result: { content: [] } }, /another one \(id 77777\)/],
  ["to a text of its digits", { id: "1000000000", result: { content: [] } }, /another one \(id "1000000000"\)/],
  ["to none", { result: { content: [] } }, /another one \(id none\)/],
  ["that it is not understood", { id: null, error: { code: -32_700, message: "I cannot read that" } }, /cannot read/],
])("a call whose whole answer is one %s ends with that", async (_, message, said) => {
  const { url, calls } = await serverWith((response) => {
    const answer = JSON.stringify({ jsonrpc: "2.0", ...message })
    response.writeHead(200, { "content-type": "application/json" }).end(answer)
  })
  const { call } = await connected(url)
  const { success, error } = await call("odd")
  expect(success).toBe(false)
  expect(error?.message).toMatch(said)
  expect(await call("well")).toMatchObject({ success: true })
  expect(calls).toEqual(["odd", "well"])
})

test("a stream that has ids is taken up where it broke off, and its answer counts", async () => {
  let id: number | undefined
  const { url, calls } = await serverWith(
    (response, asked) => {
      id = asked.id
      response.writeHead(200, EVENTS).end("retry: 1\nid: 5\ndata: \n\n")
    },
    (response, lastEvent) => {
      const text = `after ${lastEvent}`
      response.writeHead(200, EVENTS).end(event({ id, result: { content: [{ type: "text", text }] } }))
    },
  )
  const { call } = await connected(url)
  expect(await call("odd")).toMatchObject({ success: true, output: "after 5" })
  expect(calls).toEqual(["odd"])
})

test("a server that ends its listing without it is told of at the start", async () => {
  const url = await listening((_, response, text) => {
    const { id, method } = (text === "" ? {} : JSON.parse(text)) as Asked
    if (id === undefined) return void response.writeHead(202).end()
    if (method === "tools/list") return void response.writeHead(200, EVENTS).end()
    if (method !== "initialize") return void response.writeHead(400).end()
    response.writeHead(200, EVENTS).end(event({ id, result: RESULTS.initialize }))
  })
  await expect(connected(url)).rejects.toMatchObject({
    code: "SOURCE_UNAVAILABLE",
    message: expect.stringContaining("before the answer") as string,
  })
})

test.each(["ends", "breaks"])("over the transport of before, calls end with the stream that %s", async (how) => {
  let stream: ServerResponse | undefined
  let streams = 0
  const url = await listening((request, response, text) => {
    if (request.method === "GET") {
      stream = response.writeHead(200, EVENTS)
      stream.write(`event: endpoint\ndata: /messages?n=${++streams}\n\n`)
      return
    }
    const { id, method, params } = JSON.parse(text) as Asked
    response.writeHead(202).end()
    if (params?.name === "odd") return void (how === "ends" ? stream!.end() : stream!.destroy())
    if (id !== undefined) stream!.write(event({ id, result: RESULTS[method] ?? {} }))
  })
  const { call, client, log } = await connected(url, "sse")
  expect(await call("odd")).toMatchObject(WENT)
  expect(await call("well")).toMatchObject({ success: true, output: "well done" })
  expect(streams).toBe(2)
  await client.close()
  expect(log.filter((line) => line.startsWith("Left"))).toEqual([
    "Left 'far', which is reached anew when it is needed: the server ended its stream of events",
  ])
})

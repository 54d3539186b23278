import { createServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import { deflateSync, brotliCompressSync } from "node:zlib"
import { withTrace } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { ToolsApiClient } from "./client.ts"
import { overHttp } from "./exchange.ts"

/** A server that says what it was sent, and counts its connections. */
async function echo(bytesOf: (text: string) => [Buffer, Record<string, string>]) {
  let connections = 0
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const { method, url, headers } = request
      const [bytes, said] = bytesOf(JSON.stringify({ method, url, headers, body: Buffer.concat(pieces).toString() }))
      response.writeHead(200, said).end(bytes)
    })
  })
  server.on("connection", () => connections++)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: () => connections }
}

const plain = (text: string): [Buffer, Record<string, string>] => [Buffer.from(text), {}]

interface Seen {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
}

test("a request arrives as it was sent, and one connection does for many", async () => {
  const { url, connections } = await echo(plain)
  const asked = { method: "POST", headers: { "content-type": "application/json" }, body: '{"a":"ü"}' } as const
  for (let index = 0; index < 3; index++) {
    const { status, text } = await overHttp(`${url}/tools/x%20y?z=1`, asked)
    const { headers, ...seen } = JSON.parse(text) as Seen
    expect({ status, ...seen }).toEqual({ status: 200, method: "POST", url: "/tools/x%20y?z=1", body: '{"a":"ü"}' })
    expect(headers).toMatchObject({ "content-type": "application/json", "content-length": "10" })
  }
  expect(connections()).toBe(1)
})

test.each([
  ["deflate", deflateSync],
  ["br", brotliCompressSync],
])("an answer that is packed as %s is read, without the mark of its bytes", async (encoding, pack) => {
  const { url } = await echo((text) => [pack(`\uFEFF${text}`), { "content-encoding": encoding }])
  const { text } = await overHttp(url, { method: "GET", headers: {} })
  expect(JSON.parse(text)).toMatchObject({ method: "GET", headers: { "accept-encoding": "gzip, deflate, br" } })
})

test("what is asked as part of a trace says so", async () => {
  const { url } = await echo(plain)
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  const { text } = await withTrace({ traceparent }, () => overHttp(url, { method: "GET", headers: {} }))
  expect((JSON.parse(text) as Seen).headers.traceparent).toBe(traceparent)
})

test("a call that is broken off says why, and its connection ends", async () => {
  const server = createServer(() => controller.abort(new Error("no longer wanted")))
  const controller = new AbortController()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const closed = new Promise<void>((resolve) =>
    server.on("connection", (socket) => socket.once("close", () => resolve())),
  )
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const asking = overHttp(url, { method: "GET", headers: {}, signal: controller.signal })
  await expect(asking).rejects.toThrow("no longer wanted")
  await closed
})

test("a fetch of one's own is asked in place of Node's client", async () => {
  const asked: string[] = []
  const fetcher = (async (address: string, { method }: RequestInit) => {
    asked.push(`${method} ${address}`)
    return Response.json([])
  }) as typeof fetch
  expect(await new ToolsApiClient({ baseUrl: "http://elsewhere.test", fetch: fetcher }).list()).toEqual([])
  expect(asked).toEqual(["GET http://elsewhere.test/tools/"])
})

import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { expect, onTestFinished, test } from "vitest"
import { HttpMCPClient } from "./http-client.ts"

interface Asked {
  id: number
  method: string
  params: { cursor?: string }
}
type Answer = (response: ServerResponse, asked: Asked) => void

const MEGABYTE = 1024 * 1024
/** A message may have 64 MB, and stands in memory in several forms at once. */
const MOST_GROWTH = 700 * MEGABYTE
const inputSchema = { type: "object" }

/** A server that speaks the protocol by hand: it opens as it should, and answers the rest as it likes. */
async function server(answers: Readonly<Record<string, Answer>>): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const http = createServer(async (request, response) => {
    let text = ""
    for await (const piece of request) text += String(piece)
    const message = (text === "" ? {} : JSON.parse(text)) as Asked
    asked.push(message.method ?? request.method)
    if (message.id === undefined) return void response.writeHead(request.method === "POST" ? 202 : 405).end()
    const answer = answers[message.method]
    if (answer !== undefined) return answer(response, message)
    if (message.method !== "initialize") return void response.writeHead(400).end()
    const opened = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "x", version: "1" },
    }
    return said(response, message, opened)
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, asked }
}

function said(response: ServerResponse, { id }: Asked, result: unknown): void {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }))
}

const lists =
  (tools: unknown[]): Answer =>
  (response, asked) =>
    said(response, asked, { tools })

/** Writes pieces until there are so many bytes, or nobody reads any more. */
function pour(to: { write(piece: string): boolean; once(name: "drain", then: () => void): void }, piece: string): void {
  let left = 1024 * MEGABYTE
  const on = (): void => {
    while (left > 0) {
      left -= piece.length
      if (!to.write(piece)) return void to.once("drain", on)
    }
  }
  on()
}

async function connected(answers: Readonly<Record<string, Answer>>, connectTimeoutMs = 20_000) {
  const { url, asked } = await server(answers)
  const log: string[] = []
  const client = await HttpMCPClient.create({ name: "odd", url, connectTimeoutMs, log: (line) => log.push(line) })
  onTestFinished(() => client.close())
  const call = (name: string) => client.callTool(name, {}, { signal: new AbortController().signal, progress: () => {} })
  return { client, call, log, asked }
}

const JSON_TYPE = { "content-type": "application/json" }

test.each<[string, Answer]>([
  ["of a gigabyte", (response) => pour(response.writeHead(200, JSON_TYPE), " ".repeat(MEGABYTE))],
  ["of a gigabyte of empty lines", (response) => pour(response.writeHead(200, JSON_TYPE), "\n\n".repeat(MEGABYTE / 2))],
  [
    "that unpacks to a gigabyte",
    (response) => {
      // Packed pieces behind each other are packed as a whole.
      const packed = gzipSync(" ".repeat(MEGABYTE))
      response.writeHead(200, { ...JSON_TYPE, "content-encoding": "gzip" })
      for (let left = 1024; left > 0; left--) response.write(packed)
      response.end()
    },
  ],
  [
    "of one event without end",
    (response) =>
      pour(response.writeHead(200, { "content-type": "text/event-stream" }), `data: ${"x".repeat(MEGABYTE)}\n`),
  ],
])("an answer %s breaks off", async (_, answer) => {
  const { call, client } = await connected({ "tools/list": lists([{ name: "x", inputSchema }]), "tools/call": answer })
  const before = process.memoryUsage().rss
  const result = await call("x")
  expect(result).toMatchObject({ success: false })
  expect(JSON.stringify(result).length).toBeLessThan(50_000)
  expect(process.memoryUsage().rss - before).toBeLessThan(MOST_GROWTH)
  expect((await client.list()).map(({ name }) => name)).toEqual(["x"])
})

test("a hundred thousand tools, pages without end and a cursor as long as one likes are cut off, in a few lines", async () => {
  const many = Array.from({ length: 100_000 }, (_, index) => ({ name: `t${index}`, inputSchema }))
  const crowd = await connected({ "tools/list": lists(many) })
  expect(await crowd.client.list()).toHaveLength(5000)
  expect(crowd.log.some((line) => line.includes("5000"))).toBe(true)

  for (const [cursor, most] of [
    ["", 100],
    ["c".repeat(MEGABYTE), 40],
  ] as const) {
    let page = 0
    const endless = await connected({
      "tools/list": (response, asked) =>
        said(response, asked, { tools: [{ name: `p${++page}`, inputSchema }], nextCursor: `${page}${cursor}` }),
    })
    expect(await endless.client.list()).toHaveLength(page)
    expect(page).toBeLessThanOrEqual(most)
    expect(endless.log.some((line) => line.includes("more than can be taken"))).toBe(true)
  }

  const odd = Array.from({ length: 20_000 }, (_, index) => ({ name: `o${index}${"n".repeat(1000)}`, inputSchema: [] }))
  const noisy = await connected({ "tools/list": lists([...odd, { name: "good", inputSchema }]) })
  expect((await noisy.client.list()).map(({ name }) => name)).toEqual(["good"])
  expect(noisy.log.join("").length).toBeLessThan(30_000)
})

test("of one page that is too long as a whole its first tools are taken, with a line that says so", async () => {
  const _meta = { long: "x".repeat(200_000) }
  const many = Array.from({ length: 170 }, (_, index) => ({ name: `t${index}`, _meta, inputSchema }))
  const { client, log } = await connected({ "tools/list": lists(many) })
  const taken = (await client.list()).length
  expect(taken).toBeGreaterThan(100)
  expect(taken).toBeLessThan(170)
  expect(log.some((line) => line.includes(`its first ${taken} tools`))).toBe(true)
})

test("pages that come slowly, each within its time, do not go on without end", async () => {
  let page = 0
  const slow: Answer = (response, asked) =>
    void setTimeout(
      () => said(response, asked, { tools: [{ name: `p${++page}`, inputSchema }], nextCursor: `c${page}` }),
      400,
    )
  await expect(connected({ "tools/list": slow }, 500)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
  expect(page).toBeLessThan(10)
})

test("huge names, descriptions and schemas are cut or left out", async () => {
  const long = "x".repeat(200_000)
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, { type: "string" }]))
  const { client, log } = await connected({
    "tools/list": lists([
      { name: long, inputSchema },
      { name: "told", description: long, inputSchema },
      { name: "wide", inputSchema: { type: "object", properties: wide } },
    ]),
  })
  const tools = await client.list()
  expect(tools.map(({ name }) => name.slice(0, 5))).toEqual(["xxxxx", "told"])
  expect(tools.every(({ name, description }) => name.length < 200 && description.length <= 20_000)).toBe(true)
  expect(log.some((line) => line.startsWith("Left out 'wide'"))).toBe(true)
})

test("nobody else is asked because a server says so", async () => {
  const other = await server({})
  const away: Answer = (response) => void response.writeHead(307, { location: other.url }).end()
  const { call } = await connected({ "tools/list": lists([{ name: "x", inputSchema }]), "tools/call": away })
  expect(await call("x")).toMatchObject({ success: false })
  expect(other.asked).toEqual([])
})

test("a listing that never ends is given up", async () => {
  const silent: Answer = (response) => void response.writeHead(200, JSON_TYPE).write("{")
  await expect(connected({ "tools/list": silent }, 500)).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
})

import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { createGzip, gzipSync } from "node:zlib"
import { ToolRegistry, type ToolResult } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { ToolsApiClient } from "./client.ts"

type Answer = (response: ServerResponse, request: IncomingMessage) => void

const MEGABYTE = 1024 * 1024
/** What this process may grow by in a test: an answer may have 32 MB, and stands in memory in two forms at once. */
const MOST_GROWTH = 400 * MEGABYTE

/** A service that answers everything so, and who was asked. */
async function service(answer: Answer): Promise<{ url: string; asked: string[]; sent: () => number }> {
  const asked: string[] = []
  let sent = 0
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume()
    response.on("close", () => (sent += request.socket.bytesWritten))
    answer(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, sent: () => sent }
}

/** Writes pieces until there are so many bytes, or nobody reads any more. */
function pour(
  response: { write(piece: Buffer): boolean; once(name: "drain", then: () => void): void; end(): void },
  bytes: number,
): void {
  const piece = Buffer.alloc(MEGABYTE, " ")
  let left = bytes
  const on = (): void => {
    while (left > 0) {
      left -= piece.length
      if (!response.write(piece)) return void response.once("drain", on)
    }
    response.end()
  }
  on()
}

const json =
  (value: unknown): Answer =>
  (response) => {
    response.setHeader("content-type", "application/json")
    response.end(JSON.stringify(value))
  }

const ENDLESS: readonly [string, Answer][] = [
  ["a gigabyte in pieces", (response) => pour(response, 1024 * MEGABYTE)],
  [
    "a small body that unpacks to a gigabyte",
    (response) => {
      response.setHeader("content-encoding", "gzip")
      const packed = createGzip()
      packed.pipe(response)
      response.on("close", () => packed.destroy())
      pour(packed, 1024 * MEGABYTE)
    },
  ],
  [
    "a length of ten gigabytes and an answer without end",
    (response) => {
      response.setHeader("content-length", 10 * 1024 * MEGABYTE)
      pour(response, 10 * 1024 * MEGABYTE)
    },
  ],
  [
    "an error that does not end",
    (response) => {
      response.statusCode = 500
      pour(response, 1024 * MEGABYTE)
    },
  ],
]

test.each(ENDLESS)("of %s no more is read than anybody would send", async (_, answer) => {
  const { url } = await service(answer)
  const before = process.memoryUsage().rss
  const client = new ToolsApiClient({ baseUrl: url })
  expect(await client.executeTool("x")).toMatchObject({ success: false, error: { code: "SOURCE_BAD_REPLY" } })
  await expect(client.list()).rejects.toMatchObject({ code: "SOURCE_BAD_REPLY" })
  expect(process.memoryUsage().rss - before).toBeLessThan(MOST_GROWTH)
})

test.each<[string, Answer]>([
  ["begins and sends no more", (response) => void response.write("[")],
  ["says nothing", () => {}],
  [
    "drips",
    (response) => {
      const drip = setInterval(() => response.write(" "), 5)
      response.on("close", () => clearInterval(drip))
    },
  ],
])("a service that %s is given up, in a listing after its time and in a call with the call", async (_, answer) => {
  const { url } = await service(answer)
  const client = new ToolsApiClient({ baseUrl: url, listTimeoutMs: 300 })
  await expect(client.list()).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
  expect(await client.executeTool("x", {}, { signal: AbortSignal.timeout(300) })).toMatchObject({ success: false })
})

test("a length that is not the answer's own is a failure", async () => {
  const { url } = await service((response) => {
    response.setHeader("content-length", 1000)
    response.write("[]")
    response.socket!.end()
  })
  await expect(new ToolsApiClient({ baseUrl: url }).list()).rejects.toMatchObject({ code: "SOURCE_UNAVAILABLE" })
})

test("nobody else is asked because the service says so, and its own redirects end", async () => {
  const other = await service(json([]))
  const { url } = await service((response) => {
    response.writeHead(307, { location: `${other.url}/tools/` }).end()
  })
  const client = new ToolsApiClient({ baseUrl: url, token: "s3cret-token" })
  await expect(client.list()).rejects.toMatchObject({ code: "SOURCE_FAILED" })
  expect(await client.executeTool("x")).toMatchObject({ success: false })
  expect(other.asked).toEqual([])
  const circle = await service((response, { url: path }) => {
    response.writeHead(307, { location: `${path}x` }).end()
  })
  await expect(new ToolsApiClient({ baseUrl: circle.url }).list()).rejects.toMatchObject({ code: "SOURCE_FAILED" })
  expect(circle.asked.length).toBeLessThan(20)
})

test("of a hundred thousand tools, and of huge ones, so many are taken as anybody can use", async () => {
  const parameters = { type: "object" }
  const many = Array.from({ length: 100_000 }, (_, index) => ({ name: `t${index}`, description: "d", parameters }))
  const { url } = await service(json(many))
  expect(await new ToolsApiClient({ baseUrl: url }).list()).toHaveLength(5000)

  const long = "x".repeat(200_000)
  const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, { type: "string" }]))
  const huge = await service(
    json([
      { name: long, description: "d", parameters },
      { name: "told", description: long, parameters },
      { name: "wide", description: "d", parameters: { type: "object", properties: wide } },
      { name: "over", description: long + long, parameters },
    ]),
  )
  const tools = await new ToolsApiClient({ baseUrl: huge.url }).list()
  expect(tools.map(({ name }) => name.slice(0, 10))).toEqual(["xxxxxxxxxx", "told"])
  for (const { name, description } of tools) {
    expect(name.length).toBeLessThan(200)
    expect(description.length).toBeLessThanOrEqual(20_000)
  }
})

test.each<[string, unknown]>([
  ["null", null],
  ["a list", []],
  ["a text", "x"],
  ["fields of other kinds", { success: "yes", result: 5, error: { a: 1 }, metadata: 7, execution_time_ms: "soon" }],
  ["a failure without a reason", { success: false }],
  ["a failure whose reason is no text", { success: false, error: { a: 1 } }],
  [
    "our own fields of other kinds",
    { success: true, metadata: { toolwright: { output: { a: 1 }, modifiedFiles: "all", error: "x", hasData: 3 } } },
  ],
  [
    "an error of ours that is none",
    {
      success: false,
      metadata: { toolwright: { output: "x", modifiedFiles: [5, null], error: { code: 7, message: [] } } },
    },
  ],
])("a result that is %s is one with a text, files and an error as any other", async (_, body) => {
  for (const status of [200, 500]) {
    const { url } = await service((response, request) => {
      response.statusCode = request.method === "GET" ? 200 : status
      json(request.method === "GET" ? [{ name: "odd", description: "d", parameters: { type: "object" } }] : body)(
        response,
        request,
      )
    })
    const tools = new ToolRegistry()
    for (const tool of await new ToolsApiClient({ baseUrl: url }).list()) tools.register(tool)
    expectWellFormed(await tools.execute("odd", {}))
  }
})

test("what a service says of a failure is plain, short, and of a code that may stand in figures", async () => {
  const error = { code: 'X",a="1"} 9\n', message: `\u001b[2J${"m".repeat(MEGABYTE)}`, hint: "h".repeat(MEGABYTE) }
  const { url } = await service((response, request) => {
    response.statusCode = 400
    json({ error })(response, request)
  })
  const result = await new ToolsApiClient({ baseUrl: url }).executeTool("x")
  expect(result.error?.code).toBe("SOURCE_FAILED")
  expectWellFormed(result)
})

test("a packed answer of ordinary size is read", async () => {
  const { url } = await service((response) => {
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("[]"))
  })
  expect(await new ToolsApiClient({ baseUrl: url }).list()).toEqual([])
})

function expectWellFormed({ output, error, modifiedFiles, metadata, executionTimeMs, success }: ToolResult): void {
  expect([typeof output, typeof success, typeof metadata, typeof executionTimeMs]).toEqual([
    "string",
    "boolean",
    "object",
    "number",
  ])
  expect(modifiedFiles.every((file) => typeof file === "string")).toBe(true)
  if (error === undefined) return
  expect(error.code).toMatch(/^[A-Z][A-Z0-9_]*$/)
  // oxlint-disable-next-line no-control-regex -- what is looked for
  expect(error.message).not.toMatch(/\u001b/)
  expect(error.message.length + (error.hint ?? "").length).toBeLessThan(50_000)
}

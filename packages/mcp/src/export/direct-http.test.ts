import { createMcpHandler } from "@modelcontextprotocol/server"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import fc from "fast-check"
import { expect, test, vi } from "vitest"
import { IDEMPOTENCY_KEY } from "../idempotency-key.ts"
import { DirectHttp } from "./direct-http.ts"
import { mcpOverHttp } from "./http.ts"
import { mcpConnections, mcpServerFactory } from "./server.ts"

const VERSION = "2026-07-28"

function tools(waiting: (signal: AbortSignal) => Promise<string> = async () => "done"): ToolRegistry {
  const registry = new ToolRegistry()
  const text = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const
  registry.register(
    defineTool({
      name: "echo",
      description: "Says it again",
      parameters: text,
      outputSchema: text,
      execute: ({ text: said }) => ({ text: String(said) }),
    }),
  )
  registry.register(
    defineTool({
      name: "steps",
      description: "Tells its steps",
      parameters: { type: "object", properties: {} },
      execute: async (_, { progress, signal }) => {
        progress({ progress: 1, total: 2, message: "half" })
        progress({ progress: 2, total: 2 })
        return waiting(signal)
      },
    }),
  )
  registry.register(
    defineTool({
      name: "fails",
      description: "Fails",
      parameters: { type: "object", properties: {} },
      execute: () => {
        throw new Error("no")
      },
    }),
  )
  return registry
}

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
}

interface Sent {
  body: Record<string, unknown>
  headers: Record<string, string>
}

function plain(name = "echo", args: Record<string, unknown> = { text: "x" }, meta: Record<string, unknown> = {}): Sent {
  return {
    body: {
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name, arguments: args, _meta: { ...ENVELOPE, ...meta } },
    },
    headers: {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": VERSION,
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
  }
}

const requestOf = ({ body, headers }: Sent, signal?: AbortSignal): Request =>
  new Request("http://localhost/mcp", {
    method: "POST",
    headers,
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })

/** What an answer says: its status, its headers, and its messages. */
async function told(response: Response): Promise<unknown> {
  const text = await response.text()
  const messages = text.startsWith("event:") ? [...text.matchAll(/^data: (.*)$/gm)].map((found) => found[1]!) : [text]
  return [response.status, Object.fromEntries(response.headers), messages.filter(Boolean).map((one) => JSON.parse(one))]
}

/** Whether a request is answered without the library, and what comes of it with and without this way. */
async function both(sent: Sent): Promise<{ direct: boolean; here: unknown; library: unknown }> {
  const registry = tools()
  const options = { tools: registry }
  const { answerOf } = mcpConnections(options)
  const known = new DirectHttp().answer(requestOf(sent), sent.body, () => answerOf({ name: "" }))
  await known
  const exported = mcpOverHttp(options)
  const library = createMcpHandler(mcpServerFactory(options), { responseMode: "auto" })
  const authInfo = { token: "", clientId: "", scopes: [] }
  const answers = {
    direct: known !== undefined,
    here: await told(await exported.fetch(requestOf(sent), { body: sent.body })),
    library: await told(await library.fetch(requestOf(sent), { parsedBody: sent.body, authInfo })),
  }
  await Promise.all([exported.close(), library.close()])
  return answers
}

test.each([
  ["a result with data", plain()],
  ["wrong arguments", plain("echo", { text: 1 })],
  ["a tool that is not there", plain("nothing")],
  ["a tool that throws", plain("fails", {})],
  ["steps that are asked for", plain("steps", {}, { progressToken: "steps" })],
  ["steps that are not asked for", plain("steps", {})],
  ["keys of others", plain("echo", { text: "x" }, { [IDEMPOTENCY_KEY]: "k", traceparent: "00-1-1-00" })],
])("%s is answered directly, and as the library does", async (_, sent) => {
  const { direct, here, library } = await both(sent)
  expect(direct).toBe(true)
  expect(here).toEqual(library)
})

/** Each makes something of a plain call that only the library understands, or that it refuses. */
const CHANGES: readonly ((sent: Sent) => void)[] = [
  ({ body }) => (body.jsonrpc = "1.0"),
  ({ body }) => (body.id = null),
  ({ body }) => (body.id = 1.5),
  ({ body }) => (body.id = { a: 1 }),
  ({ body }) => delete body.id,
  ({ body }) => (body.method = "tools/list"),
  ({ body }) => (body.more = 1),
  ({ body }) => (body.params = []),
  ({ body }) => delete body.params,
  ({ body }) => (paramsOf(body).arguments = [1]),
  ({ body }) => (paramsOf(body).name = 1),
  ({ body }) => (paramsOf(body).task = { ttl: 1 }),
  ({ body }) => delete paramsOf(body)._meta,
  ...Object.keys(ENVELOPE).map(
    (key) =>
      ({ body }: Sent) =>
        delete metaOf(body)[key],
  ),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/protocolVersion"] = "2025-06-18"),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/clientInfo"] = { name: 1, version: "1" }),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/clientInfo"] = { name: "host" }),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/clientCapabilities"] = { elicitation: 1 }),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/clientCapabilities"] = "all"),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/logLevel"] = "info"),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/logLevel"] = 3),
  ({ body }) => (metaOf(body)["io.modelcontextprotocol/more"] = 3),
  ({ body }) => (metaOf(body).progressToken = 1.5),
  ({ headers }) => delete headers["mcp-protocol-version"],
  ({ headers }) => (headers["mcp-protocol-version"] = "2025-06-18"),
  ({ headers }) => delete headers["mcp-method"],
  ({ headers }) => (headers["mcp-method"] = "tools/list"),
  ({ headers }) => delete headers["mcp-name"],
  ({ headers }) => (headers["mcp-name"] = "steps"),
  ({ headers }) => (headers["content-type"] = "text/plain"),
]

type Fields = Record<string, unknown>
const paramsOf = (body: Fields): Fields => (body.params as Fields | undefined) ?? {}
const metaOf = (body: Fields): Fields => (paramsOf(body)._meta as Fields | undefined) ?? {}

test.each(CHANGES.map((change, index) => [String(change).slice(0, 90), index]))(
  "is the library's: %s",
  async (_, index) => {
    const sent = plain("echo")
    CHANGES[index as number]!(sent)
    const { direct, here, library } = await both(sent)
    expect(direct).toBe(false)
    expect(here).toEqual(library)
  },
)

test("calls changed in several ways at once are answered as the library answers them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("echo", "steps", "fails"),
      fc.oneof(fc.string(), fc.maxSafeInteger()),
      fc.dictionary(fc.string(), fc.jsonValue()),
      fc.array(fc.constantFrom(...CHANGES), { maxLength: 2 }),
      async (name, id, args, changes) => {
        const sent = plain(name, args)
        sent.body.id = id
        for (const change of changes) change(sent)
        const { here, library } = await both(sent)
        expect(here).toEqual(library)
      },
    ),
    { numRuns: 150 },
  )
})

test("a call is broken off with its request, with its stream and with the export", async () => {
  let begun = 0
  let broken = 0
  const untilBroken = (signal: AbortSignal): Promise<string> => {
    begun++
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        broken++
        resolve("too late")
      })
    })
  }
  const exported = mcpOverHttp({ tools: tools(untilBroken) })
  const quiet = plain("steps", {})
  const streamed = plain("steps", {}, { progressToken: 1 })

  const gone = new AbortController()
  const answer = exported.fetch(requestOf(quiet, gone.signal), { body: quiet.body })
  await vi.waitFor(() => expect(begun).toBe(1))
  gone.abort()
  expect((await answer).status).toBe(499)
  await vi.waitFor(() => expect(broken).toBe(1))

  const stream = await exported.fetch(requestOf(streamed), { body: streamed.body })
  expect(stream.headers.get("content-type")).toBe("text/event-stream")
  const reader = stream.body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('"half"')
  await reader.cancel()
  await vi.waitFor(() => expect(broken).toBe(2))

  const last = exported.fetch(requestOf(quiet), { body: quiet.body })
  await vi.waitFor(() => expect(begun).toBe(3))
  await exported.close()
  expect((await last).status).toBe(499)
  expect(broken).toBe(3)
})

test("what is answered is counted where the surrounding server says", async () => {
  const counted: number[] = []
  const exported = mcpOverHttp({ tools: tools() })
  const sent = plain("echo", { text: "x".repeat(1000) })
  const held = { count: (bytes: number) => void counted.push(bytes) }
  await exported.fetch(requestOf(sent), { body: sent.body, held })
  expect(counted).toHaveLength(1)
  expect(counted[0]).toBeGreaterThan(2000)
  await exported.close()
})

import { describe, expect, test } from "vitest"
import { collectEvents } from "../testing/collect-events.ts"
import { event, startServer, stream } from "../testing/raw-server.ts"
import { createOpenAICompatibleBackend, type OpenAICompatibleOptions } from "./backend.ts"

const request = { messages: [{ role: "user", content: "Hello" }] } as const
const key = "sk-very-secret"

function backendFor(baseUrl: string, options: Partial<OpenAICompatibleOptions> = {}) {
  const waits: number[] = []
  const sleep = (milliseconds: number) => Promise.resolve(void waits.push(milliseconds))
  const backend = createOpenAICompatibleBackend({
    baseUrl,
    modelName: "m",
    apiKey: key,
    sleep,
    settingNames: { url: "model.baseUrl", key: "model.apiKey" },
    ...options,
  })
  return { waits, backend }
}

/** The error of one inference, and what it waited for. */
async function failureOf(baseUrl: string, options: Partial<OpenAICompatibleOptions> = {}) {
  const { waits, backend } = backendFor(baseUrl, options)
  try {
    await collectEvents(backend.infer(request))
  } catch (error) {
    const { code, message, hint = "" } = error as { code: string; message: string; hint?: string }
    expect(message + hint).not.toContain(key)
    return { code, message, hint, waits }
  }
  throw new Error("expected a failure")
}

describe("trying again", () => {
  test("follows HTTP 5xx and broken connections after 1, 2 and 4 seconds, and each is told", async () => {
    const { baseUrl, requests } = await startServer(async (response, _, count) => {
      if (count === 1) response.writeHead(503).end()
      else if (count === 2) response.destroy()
      else if (count === 3) response.writeHead(500).end()
      else await stream(response, [event({ content: "at last" }, "stop")])
    })
    const { waits, backend } = backendFor(baseUrl)
    const events = await collectEvents(backend.infer(request))
    expect(events.filter((each) => each.type === "retry")).toMatchObject([
      { attempt: 1, delayMs: 1000, reason: "HTTP 503" },
      { attempt: 2, delayMs: 2000 },
      { attempt: 3, delayMs: 4000, reason: "HTTP 500" },
    ])
    expect(events.at(-1)).toMatchObject({ type: "end" })
    expect(waits).toEqual([1000, 2000, 4000])
    expect(requests).toHaveLength(4)
  })

  test("ends after three, with the last failure", async () => {
    const { baseUrl, requests } = await startServer(
      (response) => void response.writeHead(502).end('{"error":{"message":"upstream is down"}}'),
    )
    expect(await failureOf(baseUrl)).toMatchObject({
      code: "MODEL_SERVER_ERROR",
      message: expect.stringContaining("upstream is down"),
      waits: [1000, 2000, 4000],
    })
    expect(requests).toHaveLength(4)
  })

  test.each([400, 401, 403, 404, 408, 422, 429])("does not follow HTTP %i", async (status) => {
    const { baseUrl, requests } = await startServer((response) => void response.writeHead(status).end())
    await failureOf(baseUrl)
    expect(requests).toHaveLength(1)
  })

  test("does not follow a reply of which something was passed on", async () => {
    const { baseUrl, requests } = await startServer(async (response) => {
      await stream(response, [event({ content: "half" })], false)
      setTimeout(() => response.destroy(), 10)
    })
    expect(await failureOf(baseUrl)).toMatchObject({ code: "MODEL_BAD_REPLY", waits: [] })
    expect(requests).toHaveLength(1)
  })

  test("is given up when the caller cancels while it waits", async () => {
    const { baseUrl } = await startServer((response) => void response.writeHead(503).end())
    const controller = new AbortController()
    const backend = createOpenAICompatibleBackend({ baseUrl, modelName: "m", retryDelaysMs: [60_000] })
    const run = (async () => {
      for await (const each of backend.infer(request, { signal: controller.signal }))
        if (each.type === "retry") controller.abort()
    })()
    await expect(run).rejects.toMatchObject({ name: "AbortError" })
  })
})

describe("failures say what to do", () => {
  test("nothing listens there", async () => {
    const { code, message, hint, waits } = await failureOf("http://127.0.0.1:9/v1")
    expect({ code, waits }).toEqual({ code: "MODEL_UNREACHABLE", waits: [1000, 2000, 4000] })
    expect(message).toContain("http://127.0.0.1:9/v1/chat/completions")
    expect(hint).toContain("model.baseUrl")
  })

  test("the host has no address: trying again would not help", async () => {
    expect(await failureOf("http://no-such-host.invalid/v1")).toMatchObject({
      code: "MODEL_UNREACHABLE",
      message: expect.stringContaining("no-such-host.invalid"),
      hint: expect.stringContaining("model.baseUrl"),
    })
  })

  test.each([401, 403])("HTTP %i names the setting of the key, and never the key", async (status) => {
    const { baseUrl } = await startServer(
      (response) =>
        void response
          .writeHead(status)
          .end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } })),
    )
    const { code, hint, message } = await failureOf(baseUrl)
    expect(code).toBe("MODEL_UNAUTHORIZED")
    expect(hint).toContain("model.apiKey")
    expect(message).toContain("Incorrect API key provided: •••")
  })

  test("HTTP 404 names the model", async () => {
    const { baseUrl } = await startServer(
      (response) => void response.writeHead(404).end('{"error":{"message":"model \\"m\\" not found"}}'),
    )
    expect(await failureOf(baseUrl)).toMatchObject({ code: "MODEL_NOT_FOUND", message: expect.stringContaining("'m'") })
  })

  test("HTTP 400 carries the server's message, in whatever form it has it", async () => {
    for (const body of [
      '{"error":{"message":"too long"}}',
      '{"error":"too long"}',
      '{"detail":"too long"}',
      '{"message":"too long"}',
      "<p>too <b>long</b></p>",
      "too long",
    ]) {
      const { baseUrl } = await startServer((response) => void response.writeHead(400).end(body))
      const { code, message } = await failureOf(baseUrl)
      expect(code).toBe("MODEL_REQUEST_REJECTED")
      expect(message).toMatch(/It says: too\s+long/)
    }
  })

  test.each<[string, string, string | Uint8Array, string]>([
    [
      "bytes that are not UTF-8",
      "text/event-stream",
      Buffer.concat([Buffer.from("data: "), Buffer.from([0xff, 0xc3, 0x28]), Buffer.from("\n\n")]),
      "not UTF-8",
    ],
    ["a character that is cut off", "text/event-stream", Buffer.from([0x64, 0xe4, 0xb8]), "not UTF-8"],
    ["an event that is not JSON", "text/event-stream", "data: {oops\n\n", "not JSON: {oops"],
    ["a page", "text/html", "<html>Sign in</html>", "not JSON: <html>Sign in</html>"],
    ["an empty body", "application/json", "", "it is empty"],
    ["other JSON", "application/json", '{"status":"ok"}', "no chat completion"],
    ["JSON that is no object", "application/json", "7", "no JSON object"],
  ])("a reply of %s", async (_, type, body, said) => {
    const { baseUrl } = await startServer(
      (response) => void response.writeHead(200, { "content-type": type }).end(body),
    )
    expect(await failureOf(baseUrl)).toMatchObject({
      code: "MODEL_BAD_REPLY",
      message: expect.stringContaining(said),
      waits: [],
    })
  })

  test("a stream that stops in the middle is tried again, then told", async () => {
    const { baseUrl } = await startServer((response) => stream(response, [": nothing yet\n\n"]))
    expect(await failureOf(baseUrl)).toMatchObject({
      code: "MODEL_BAD_REPLY",
      message: expect.stringContaining("ends in the middle"),
      waits: [1000, 2000, 4000],
    })
  })

  test("a failure that the server reports inside its stream", async () => {
    const { baseUrl } = await startServer((response) =>
      stream(response, [event({ content: "a" }), 'data: {"error":{"code":500,"message":"out of memory"}}\n\n']),
    )
    expect(await failureOf(baseUrl)).toMatchObject({
      code: "MODEL_SERVER_ERROR",
      message: expect.stringContaining("out of memory"),
    })
  })

  test("an address that moved", async () => {
    const { baseUrl } = await startServer(
      (response) => void response.writeHead(301, { location: "https://new.example/v1" }).end(),
    )
    expect(await failureOf(baseUrl)).toMatchObject({
      code: "MODEL_BAD_REPLY",
      message: expect.stringContaining("https://new.example/v1"),
    })
  })

  test("a server that accepts and then says nothing", async () => {
    const { baseUrl } = await startServer(() => {})
    expect(await failureOf(baseUrl, { stallTimeoutMs: 40 })).toMatchObject({ code: "MODEL_TIMEOUT", waits: [] })
    const half = await startServer((response) => stream(response, [event({ content: "a" })], false))
    expect(await failureOf(half.baseUrl, { stallTimeoutMs: 40 })).toMatchObject({ code: "MODEL_TIMEOUT" })
  })

  test.each(["localhost:8080/v1", "not a url", "ftp://host/v1", ""])("%j is no address", (baseUrl) => {
    expect(() => backendFor(baseUrl)).toThrow(
      expect.objectContaining({ code: "INVALID_CONFIGURATION", hint: expect.stringContaining("model.baseUrl") }),
    )
  })
})

test("the time that the reader takes between events is not the server's", async () => {
  const { baseUrl } = await startServer((response) =>
    stream(response, [event({ content: "a" }), event({ content: "b" }), event({}, "stop")]),
  )
  const { backend } = backendFor(baseUrl, { stallTimeoutMs: 60 })
  let text = ""
  for await (const each of backend.infer(request)) {
    if (each.type === "text-delta") text += each.text
    await new Promise((resolve) => setTimeout(resolve, 80))
  }
  expect(text).toBe("ab")
})

test("cancelling ends a request at once, before and within the reply", async () => {
  for (const first of [[], [event({ content: "a" })]]) {
    let closed!: () => void
    const connectionClosed = new Promise<void>((resolve) => (closed = resolve))
    const { baseUrl } = await startServer(async (response) => {
      response.on("close", closed)
      if (first.length > 0) await stream(response, first, false)
    })
    const controller = new AbortController()
    const reason = new Error("cancelled by the user")
    setTimeout(() => controller.abort(reason), 50)
    const started = performance.now()
    await expect(collectEvents(backendFor(baseUrl).backend.infer(request, { signal: controller.signal }))).rejects.toBe(
      reason,
    )
    await connectionClosed
    expect(performance.now() - started).toBeLessThan(1000)
  }
})

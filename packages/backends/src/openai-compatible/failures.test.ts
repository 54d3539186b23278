import { once } from "node:events"
import { createServer, type AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test, vi } from "vitest"
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

  test.each([400, 401, 403, 404, 408, 422])("does not follow HTTP %i", async (status) => {
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

const busy = async (answers: { status: number; headers?: Record<string, string>; body?: string }[], options = {}) => {
  const { baseUrl, requests } = await startServer(async (response, _, count) => {
    const answer = answers[count - 1]
    if (answer === undefined) return stream(response, [event({ content: "at last" }, "stop")])
    response.writeHead(answer.status, answer.headers).end(answer.body ?? "")
  })
  const { waits, backend } = backendFor(baseUrl, options)
  const events = await collectEvents(backend.infer(request)).catch((error: unknown) => error as { code: string })
  return { waits, events, requests }
}

test.each<[string, number, Record<string, string>, number]>([
  ["in seconds", 429, { "retry-after": "7" }, 7000],
  ["in milliseconds", 429, { "retry-after-ms": "350", "retry-after": "9" }, 350],
  ["as a date", 429, { date: "Wed, 21 Oct 2026 07:28:00 GMT", "retry-after": "Wed, 21 Oct 2026 07:28:12 GMT" }, 12_000],
  ["also with HTTP 503", 503, { "retry-after": "3" }, 3000],
  [
    "by the limit that is exhausted",
    429,
    {
      "x-ratelimit-reset-requests": "1m30.5s",
      "x-ratelimit-remaining-requests": "0",
      "x-ratelimit-reset-tokens": "6m0s",
      "x-ratelimit-remaining-tokens": "149984",
    },
    90_500,
  ],
  ["not at all", 429, {}, 1000],
  ["in a way that is none", 429, { "retry-after": "soon" }, 1000],
  ["of no time", 429, { "retry-after": "0" }, 100],
])("a busy server is waited for as it says: %s", async (_, status, headers, delayMs) => {
  const { waits, events } = await busy([{ status, headers }])
  expect(waits).toEqual([delayMs])
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "retry",
      attempt: 1,
      delayMs,
      reason: expect.stringContaining(`HTTP ${status}`),
    }),
  )
  expect(events).toContainEqual({ type: "text-delta", text: "at last" })
})

test("a busy server is given ever more time where it does not say how much it needs", async () => {
  const { waits, events } = await busy(Array.from({ length: 20 }, () => ({ status: 429 })))
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
  expect(events).toMatchObject({ code: "MODEL_RATE_LIMITED" })
})

test("a busy server is not waited for beyond the bound, and the error says how long it would be", async () => {
  const day = { status: 429, headers: { "retry-after": "86400" } }
  expect(await busy([day])).toMatchObject({
    waits: [],
    events: { code: "MODEL_RATE_LIMITED", message: expect.stringContaining("in 86400 seconds") },
  })
  const minute = { status: 429, headers: { "retry-after": "60" } }
  expect((await busy([minute, minute, minute], { busyTimeoutMs: 150_000 })).waits).toEqual([60_000, 60_000])
})

test("a busy server is not asked again where waiting does not help", async () => {
  const quota = { status: 429, body: '{"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}' }
  expect((await busy([quota])).requests).toHaveLength(1)
  expect((await busy([{ status: 500, headers: { "x-should-retry": "false" } }])).requests).toHaveLength(1)
})

test("a busy server that says so inside its stream is waited for too", async () => {
  const { baseUrl } = await startServer((response, _, count) =>
    stream(
      response,
      count === 1 ? ['data: {"error":{"code":429,"message":"slow down"}}\n\n'] : [event({ content: "a" }, "stop")],
    ),
  )
  const { waits, backend } = backendFor(baseUrl)
  expect(await collectEvents(backend.infer(request))).toContainEqual({ type: "text-delta", text: "a" })
  expect(waits).toEqual([1000])
})

describe("a constraint that a server does not take", () => {
  test.each<[string, number, object]>([
    ["a field that it does not know", 400, { error: { message: "no", code: "unsupported_parameter", param: "tools" } }],
    ["FastAPI's way", 422, { detail: [{ type: "extra_forbidden", loc: ["body", "tools"], msg: "Extra inputs" }] }],
    ["its own words", 400, { error: "registry.ollama.ai/library/gemma:2b does not support tools" }],
    ["a failure of its own", 500, { error: { message: "tools param requires --jinja flag", type: "server_error" } }],
    ["no such endpoint", 404, { error: { message: "No endpoints found that support tool use" } }],
  ])("is told as such, at once: %s", async (_, status, body) => {
    const { baseUrl, requests } = await startServer(
      (response) => void response.writeHead(status).end(JSON.stringify(body)),
    )
    expect(await failureOf(baseUrl)).toMatchObject({ code: "CONSTRAINT_UNSUPPORTED", waits: [] })
    expect(requests).toHaveLength(1)
  })

  test.each<[number, object, string]>([
    [400, { error: { message: "bad", code: "invalid_value", param: "tools" } }, "MODEL_REQUEST_REJECTED"],
    [400, { error: { message: "bad", code: "unknown_parameter", param: "tools[0].strict" } }, "MODEL_REQUEST_REJECTED"],
    [500, { error: { message: "the tools service is down" } }, "MODEL_SERVER_ERROR"],
    [429, { error: { message: "this key does not support tools now" } }, "MODEL_RATE_LIMITED"],
    [401, { error: { message: "this key does not support tools" } }, "MODEL_UNAUTHORIZED"],
  ])("is another matter than HTTP %i with %j", async (status, body, code) => {
    const { baseUrl } = await startServer((response) => void response.writeHead(status).end(JSON.stringify(body)))
    expect((await failureOf(baseUrl)).code).toBe(code)
  })
})

test("what a server says cannot steer a terminal", async () => {
  const { baseUrl } = await startServer((response) => void response.writeHead(400).end("\u001b[2Jno\u0007\u009b1m"))
  expect((await failureOf(baseUrl)).message).toMatch(/It says: \[2Jno1m$/)
})

describe("failures say what to do", () => {
  test("nothing listens there", async () => {
    const free = createServer().listen(0, "127.0.0.1")
    await once(free, "listening")
    const { port } = free.address() as AddressInfo
    await new Promise((closed) => free.close(closed))
    const { code, message, hint, waits } = await failureOf(`http://127.0.0.1:${port}/v1`)
    expect({ code, waits }).toEqual({ code: "MODEL_UNREACHABLE", waits: [1000, 2000, 4000] })
    expect(message).toContain(`http://127.0.0.1:${port}/v1/chat/completions`)
    expect(hint).toContain("model.baseUrl")
  })

  test("a port on which no HTTP is sent is named as the reason, once", async () => {
    const { code, message, waits } = await failureOf("https://127.0.0.1:9/v1")
    expect({ code, waits }).toEqual({ code: "MODEL_UNREACHABLE", waits: [] })
    expect(message).toContain("its port is one on which no HTTP request is sent")
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

  test("an address that lacks /v1 is told with the one that is meant", async () => {
    const { baseUrl } = await startServer((response) => void response.writeHead(404).end("404 page not found"))
    const root = baseUrl.replace(/\/v1\/?$/, "")
    const told = { code: "MODEL_NOT_FOUND", hint: expect.stringContaining(`${root}/v1.`) as string }
    expect(await failureOf(root)).toMatchObject(told)
    expect((await failureOf(`${root}/v1`)).hint).not.toContain("most servers")
    const strange = await startServer((response) => void response.writeHead(200).end("<p>Welcome</p>"))
    const other = strange.baseUrl.replace(/\/v1\/?$/, "")
    expect((await failureOf(other)).hint).toContain(`${other}/v1.`)
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
    ["other JSON", "application/json", '{"status":"ok"}', "no reply of an OpenAI-compatible server"],
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
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  onTestFinished(() => void vi.useRealTimers())
  const { backend } = backendFor(baseUrl, { stallTimeoutMs: 60 })
  let text = ""
  for await (const each of backend.infer(request)) {
    if (each.type === "text-delta") text += each.text
    await vi.advanceTimersByTimeAsync(80)
  }
  expect(text).toBe("ab")
})

test("cancelling ends a request at once, before and within the reply", async () => {
  for (const first of [[], [event({ content: "a" })]]) {
    let closed!: () => void
    const connectionClosed = new Promise<void>((resolve) => (closed = resolve))
    const controller = new AbortController()
    const reason = new Error("cancelled by the user")
    const { baseUrl } = await startServer(async (response) => {
      response.on("close", closed)
      setTimeout(() => controller.abort(reason), 50)
      if (first.length > 0) await stream(response, first, false)
    })
    await expect(collectEvents(backendFor(baseUrl).backend.infer(request, { signal: controller.signal }))).rejects.toBe(
      reason,
    )
    await connectionClosed
  }
})

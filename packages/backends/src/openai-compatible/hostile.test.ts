import type { ServerResponse } from "node:http"
import { expect, test } from "vitest"
import { probeAbilities } from "../probe/probe.ts"
import { collectEvents } from "../testing/collect-events.ts"
import { event, startServer } from "../testing/raw-server.ts"
import { createOpenAICompatibleBackend, type OpenAICompatibleOptions } from "./backend.ts"
import { LIMITS as USUAL, LONGEST_ERROR } from "../http/limits.ts"
import { createSseReader } from "../http/sse.ts"

const request = { messages: [{ role: "user", content: "Hello" }] } as const
/** A sixteenth of the usual ones: the tests are about that they hold. */
const LIMITS = Object.fromEntries(Object.entries(USUAL).map(([name, most]) => [name, most / 16])) as Record<
  keyof typeof USUAL,
  number
>

/** What may lie in the buffers of two sockets beyond what was read. */
const IN_FLIGHT = 12 * 1024 * 1024

function backendFor(baseUrl: string, options: Partial<OpenAICompatibleOptions> = {}) {
  return createOpenAICompatibleBackend({
    baseUrl,
    modelName: "m",
    limits: LIMITS,
    sleep: () => Promise.resolve(),
    ...options,
  })
}

/** Writes the same text for ever, as fast as it is taken, and tells how much was taken until the client left. */
function pour(response: ServerResponse, text: string): { bytes: number; left: Promise<void> } {
  const piece = Buffer.from(text.repeat(Math.max(1, Math.floor(65_536 / text.length))))
  const poured = { bytes: 0, left: new Promise<void>((resolve) => response.on("close", resolve)) }
  const more = (): void => {
    while (!response.destroyed) {
      poured.bytes += piece.length
      if (!response.write(piece)) return void response.once("drain", more)
    }
  }
  more()
  return poured
}

const call = (fields: object) => event({ tool_calls: [{ index: 0, ...fields }] })
const args = (text: string) => call({ function: { arguments: text } })

/** How a server may never stop: the beginning of its answer, what it repeats, and what it is told to be. */
const ENDLESS: [string, { first?: string; again: string; limit: number; type?: string }][] = [
  ["text", { again: event({ content: "x".repeat(1000) }), limit: LIMITS.reply * 1.2 }],
  ["text letter by letter", { again: event({ content: "x" }), limit: LIMITS.stream }],
  ["reasoning", { again: event({ reasoning_content: "x".repeat(1000) }), limit: LIMITS.reply * 1.2 }],
  [
    "arguments",
    {
      first: call({ id: "a", function: { name: "f", arguments: '{"a":"' } }),
      again: args("x".repeat(1000)),
      limit: LIMITS.reply * 1.2,
    },
  ],
  [
    "arguments letter by letter",
    {
      first: call({ id: "a", function: { name: "f", arguments: '{"a":"' } }),
      again: args("x"),
      limit: LIMITS.stream,
    },
  ],
  [
    "arguments that never begin",
    { first: call({ id: "a", function: { name: "f" } }), again: args("          "), limit: LIMITS.stream },
  ],
  ["one event", { first: 'data: {"a":"', again: "x", limit: LIMITS.event }],
  ["one comment", { first: ": ", again: "x", limit: LIMITS.event }],
  ["lines of one event", { again: "data: x\n", limit: LIMITS.event * 2 }],
  ["empty events", { again: "data: {}\n\n", limit: LIMITS.stream }],
  ["comments", { again: ": ping\n\n", limit: LIMITS.stream }],
  ["line ends", { again: "\r", limit: LIMITS.stream }],
  ["a JSON body", { first: '{"a":"', again: "x", limit: LIMITS.body, type: "application/json" }],
]

test.each(ENDLESS)(
  "a server that never stops sending %s is left, with an error",
  async (_, { first = "", again, limit, type }) => {
    let poured: ReturnType<typeof pour> | undefined
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { "content-type": type ?? "text/event-stream" })
      response.write(first)
      poured = pour(response, again)
    })
    const events = backendFor(baseUrl).infer(request)
    await expect(
      (async () => {
        for await (const _event of events) continue
      })(),
    ).rejects.toMatchObject({ code: "REPLY_TOO_LONG" })
    await poured!.left
    expect(poured!.bytes).toBeLessThan(limit + IN_FLIGHT)
  },
)

test.each([400, 401, 404, 429, 500])(
  "a server that never stops explaining HTTP %i is not listened to",
  async (status) => {
    const all: ReturnType<typeof pour>[] = []
    const { baseUrl } = await startServer((response) => {
      response.writeHead(status)
      all.push(pour(response, "no ".repeat(100)))
    })
    const failed = await collectEvents(backendFor(baseUrl).infer(request)).catch((error: unknown) => error as Error)
    expect((failed as Error).message.length).toBeLessThan(3000)
    for (const { left, bytes } of all) {
      await left
      expect(bytes).toBeLessThan(LONGEST_ERROR + IN_FLIGHT)
    }
  },
)

test("a server that never stops sending calls is left, whatever they are numbered", async () => {
  for (const numbered of [true, false]) {
    let count = 0
    const { baseUrl } = await startServer((response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const more = (): void => {
        while (!response.destroyed) {
          count++
          const index = numbered ? { index: count } : {}
          const one = { ...index, id: `c${count}`, function: { name: "f", arguments: "{" } }
          if (!response.write(event({ tool_calls: [one] }))) return void response.once("drain", more)
        }
      }
      more()
    })
    await expect(collectEvents(backendFor(baseUrl).infer(request))).rejects.toMatchObject({
      code: "REPLY_TOO_LONG",
      message: expect.stringContaining("calls"),
    })
  }
})

test("a server that never stops dripping is left when the time for one reply is over", async () => {
  const { baseUrl } = await startServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    const drip = setInterval(() => response.write(": still there\n\n"), 5)
    response.on("close", () => clearInterval(drip))
  })
  await expect(collectEvents(backendFor(baseUrl, { replyTimeoutMs: 100 }).infer(request))).rejects.toMatchObject({
    code: "MODEL_TIMEOUT",
    message: expect.stringContaining("did not end its reply"),
  })
})

test("a server that never stops answering a probe is left too", async () => {
  const all: ReturnType<typeof pour>[] = []
  const { baseUrl } = await startServer((response) => {
    response.writeHead(200, { "content-type": "application/json" })
    all.push(pour(response, " "))
  })
  expect(await probeAbilities(baseUrl, { timeoutMs: 60_000 })).toMatchObject({ reachable: true, models: [] })
  for (const { left, bytes } of all) {
    await left
    expect(bytes).toBeLessThan(USUAL.event + IN_FLIGHT)
  }
})

test("a caller who leaves ends the request, whatever the server does", async () => {
  let poured: ReturnType<typeof pour> | undefined
  const { baseUrl } = await startServer((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    poured = pour(response, event({ content: "x" }))
  })
  for await (const each of backendFor(baseUrl).infer(request)) if (each.type === "text-delta") break
  await poured!.left
  expect(poured!.bytes).toBeLessThan(IN_FLIGHT)
})

/** Whether work costs less than so many times as much at eight times the size; the best of many: others only add. */
function growsLess(work: (size: number) => void, size: number, most: number): boolean {
  const time = (count: number): number => {
    const started = process.cpuUsage()
    work(count)
    const { user, system } = process.cpuUsage(started)
    return user + system
  }
  const tries = Array.from({ length: 15 })
  const least = Math.min(...tries.map(() => time(size)))
  return tries.some(() => time(size * 8) < most * least)
}

test("a long event costs as much for each character however it is cut", () => {
  const read = (size: number): void => {
    const reader = createSseReader()
    for (let at = 0; at < size; at++) reader.push("xxxxxxxx")
    reader.end()
  }
  // Eight times the text; were each piece to cost the whole, it would be sixty-four times.
  expect(growsLess(read, 2000, 24)).toBe(true)
})

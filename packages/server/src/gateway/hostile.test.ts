import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { createOpenAICompatibleBackend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"

/** What a client has to see: a text, once, and calls, or a failure. */
interface Seen {
  text?: string
  calls?: object[]
  failed?: true
}

interface Case extends Seen {
  /** What the server sends, head and all, in pieces that leave by themselves. */
  sends: (Buffer | string)[]
  /** The connection is reset behind them. */
  resets?: true
}

const HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
const json = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`
const delta = (one: unknown, finish: string | null = null, index = 0): string =>
  json({ choices: [{ index, delta: one, finish_reason: finish }] })
const call = (fields: object, more: object = {}): string =>
  delta({ tool_calls: [{ index: 0, ...fields, function: more }] })
const look = (a: string, more: object = {}): string =>
  call({ id: "c1", ...more }, { name: "look", arguments: JSON.stringify({ a }) })
const DONE = `${delta({}, "stop")}data: [DONE]\n\n`
const CALLED = `${delta({}, "tool_calls")}data: [DONE]\n\n`
const SAID = delta({ content: "Grüße 🦊" })
const said = { text: "Grüße 🦊", calls: [] }
const one = { text: "", calls: [{ a: "1" }] }
const bytes = (text: string): Buffer[] => [...Buffer.from(text)].map((byte) => Buffer.from([byte]))
const head = (more: string, status = "200 OK"): string =>
  HEAD.replace("200 OK", status).replace("\r\n\r\n", `\r\n${more}\r\n\r\n`)
const zipped = (text: Buffer | string): Buffer => gzipSync(text)
const typed = (type: string): string => HEAD.replace("text/event-stream", type)

const CASES: Readonly<Record<string, Case>> = {
  "lines that end in CR LF": { sends: [HEAD, (SAID + DONE).replaceAll("\n", "\r\n")], ...said },
  "lines that end in CR": { sends: [HEAD, (SAID + DONE).replaceAll("\n", "\r")], ...said },
  "a byte order mark": { sends: [HEAD, `\uFEFF${SAID}${DONE}`], ...said },
  "byte after byte": { sends: [HEAD, ...bytes(SAID + DONE)], ...said },
  "events of several lines": { sends: [HEAD, SAID.replace('{"index"', '\ndata: {"index"'), DONE], ...said },
  "fields beside the data": { sends: [HEAD, `event: chunk\nid: 1\nretry: 1\n${SAID}`, `: ping\n\n${DONE}`], ...said },
  "no space after the colon": { sends: [HEAD, (SAID + DONE).replaceAll("data: ", "data:")], ...said },
  "no empty line at the end": { sends: [HEAD, SAID + delta({}, "stop").trimEnd()], ...said },
  "counts before all else": {
    sends: [HEAD, json({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 2 } }), SAID, DONE],
    ...said,
  },
  "counts that are none": {
    sends: [HEAD, SAID, json({ choices: [], usage: { prompt_tokens: "1", completion_tokens: null } }), DONE],
    ...said,
  },
  "a second answer that nobody wanted": { sends: [HEAD, SAID, delta({ content: "other" }, null, 1), DONE], ...said },
  "nothing where something may be": {
    sends: [HEAD, delta({ content: null, tool_calls: null, refusal: null }), delta(null), delta(undefined), SAID, DONE],
    ...said,
  },
  "numbers for text": { sends: [HEAD, delta({ content: 5 }), SAID, DONE], ...said },
  "what comes after the end": { sends: [HEAD, SAID, DONE, SAID, "data: {broken\n\n"], ...said },
  "a whole answer in place of a stream": {
    sends: [
      typed("application/json"),
      JSON.stringify({ choices: [{ message: { content: said.text }, finish_reason: "stop" }] }),
    ],
    ...said,
  },
  "HTTP/1.0 without a length": {
    sends: [HEAD.replace("HTTP/1.1", "HTTP/1.0").replace("connection: close\r\n", ""), SAID, DONE],
    ...said,
  },
  "gzip in pieces": {
    sends: [
      head("content-encoding: gzip"),
      ...[0, 20, 40, 60].map((at) => zipped(SAID + DONE).subarray(at, at === 60 ? undefined : at + 20)),
    ],
    ...said,
  },
  "a reason for calls, and no call": { sends: [HEAD, SAID, CALLED], ...said },
  "a call": { sends: [HEAD, look("1"), CALLED], ...one },
  "a call byte after byte": { sends: [HEAD, ...bytes(look("1") + CALLED)], ...one },
  "arguments in pieces": {
    sends: [
      HEAD,
      call({ id: "c" }, { name: "look", arguments: "" }),
      call({}, { arguments: '{"a"' }),
      call({}, { arguments: ':"1"}' }),
      CALLED,
    ],
    ...one,
  },
  "arguments that are an object": {
    sends: [HEAD, call({ id: "c" }, { name: "look", arguments: { a: "1" } }), CALLED],
    ...one,
  },
  "a call without an id": { sends: [HEAD, look("1", { id: undefined }), CALLED], ...one },
  "two calls with one id": {
    sends: [HEAD, look("1"), look("2", { index: 1 }), CALLED],
    text: "",
    calls: [{ a: "1" }, { a: "2" }],
  },
  "two calls with one number": {
    sends: [HEAD, look("1"), look("2", { id: "c2" }), CALLED],
    text: "",
    calls: [{ a: "1" }, { a: "2" }],
  },
  "two calls, mixed": {
    sends: [
      HEAD,
      call({ id: "a" }, { name: "look", arguments: '{"a":' }),
      call({ index: 1, id: "b" }, { name: "look", arguments: '{"a":' }),
      call({}, { arguments: '"1"}' }),
      call({ index: 1 }, { arguments: '"2"}' }),
      CALLED,
    ],
    text: "",
    calls: [{ a: "1" }, { a: "2" }],
  },
  "a number beyond all": { sends: [HEAD, look("1", { index: 1e15 }), CALLED], ...one },
  "a number below zero": { sends: [HEAD, look("1", { index: -1 }), CALLED], ...one },
  "a number that is a text": { sends: [HEAD, look("1", { index: "0" }), CALLED], ...one },
  "the end before the last piece": {
    sends: [
      HEAD,
      call({ id: "c" }, { name: "look", arguments: '{"a":"1"' }),
      delta({}, "tool_calls"),
      call({}, { arguments: "}" }),
      "data: [DONE]\n\n",
    ],
    text: expect.any(String) as unknown as string,
  },
  "arguments that are no JSON": {
    sends: [HEAD, call({ id: "c" }, { name: "look", arguments: '{"a": MARK' }), CALLED],
    text: expect.stringContaining("MARK") as unknown as string,
    calls: [],
  },
  "no name": {
    sends: [HEAD, call({ id: "c" }, { name: "", arguments: '{"a":"MARK"}' }), CALLED],
    text: expect.stringContaining("MARK") as unknown as string,
    calls: [],
  },
  "a call as text, and again in its own form": {
    sends: [
      HEAD,
      delta({ content: `<tool_call>\n{"name": "look", "arguments": {"a": "1"}}\n</tool_call>` }),
      look("1"),
      CALLED,
    ],
    ...one,
  },
  "a call in its own form, and again as text": {
    sends: [
      HEAD,
      look("1"),
      delta({ content: `<tool_call>\n{"name": "look", "arguments": {"a": "1"}}\n</tool_call>` }),
      CALLED,
    ],
    ...one,
  },
  "the same call two times": {
    sends: [HEAD, look("1", { id: "a" }), look("1", { index: 1, id: "b" }), CALLED],
    text: "",
    calls: [{ a: "1" }, { a: "1" }],
  },
  "names of prototypes": {
    sends: [HEAD, call({ id: "c" }, { name: "look", arguments: '{"a":"1","__proto__":{"b":1}}' }), CALLED],
    text: "",
    calls: [expect.objectContaining({ a: "1" })],
  },
  "success with an error inside": {
    sends: [typed("application/json"), JSON.stringify({ error: { message: "out of memory", code: 500 } })],
    failed: true,
  },
  "a page in place of an answer": { sends: [typed("text/html"), "<html>It works!</html>"], failed: true },
  "what is no UTF-8": { sends: [HEAD, Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 10, 10])], failed: true },
  "a gzip bomb": {
    sends: [head("content-encoding: gzip"), zipped(Buffer.alloc(80 * 1024 * 1024, ": ping\n"))],
    failed: true,
  },
  "gzip that breaks off": { sends: [head("content-encoding: gzip"), zipped(DONE).subarray(0, 20)], failed: true },
  "less than its length": {
    sends: [typed("application/json").replace("\r\n\r\n", "\r\ncontent-length: 900\r\n\r\n"), '{"choices": ['],
    failed: true,
  },
  "a reset before the first word": { sends: [HEAD], resets: true, failed: true },
  "a reset inside a call": {
    sends: [HEAD, call({ id: "c" }, { name: "look", arguments: '{"a":' })],
    resets: true,
    failed: true,
  },
  "an error inside the stream": {
    sends: [HEAD, json({ error: { message: "out of memory", code: 500 } })],
    failed: true,
  },
  "no answer at all": { sends: [], failed: true },
}

/** A model server that sends bytes as they are. */
async function rawModel({ sends, resets }: Case): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => {})
    socket.once("data", () => {
      void (async () => {
        for (const piece of sends) {
          socket.write(piece)
          await new Promise((resolve) => setImmediate(resolve))
        }
        if (resets === true) setImmediate(() => socket.resetAndDestroy())
        else socket.end()
      })()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

// oxlint-disable-next-line typescript/no-explicit-any -- answers of two wires are read, each in its form
type Body = Record<string, any>

const parameters = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
const WIRES: Readonly<
  Record<string, { path: string; body: Body; read(parts: Body[]): Required<Omit<Seen, "failed">> & { ids: string[] } }>
> = {
  Chat: {
    path: "/v1/chat/completions",
    body: {
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ type: "function", function: { name: "look", description: "Looks", parameters } }],
    },
    read(parts) {
      const told = parts
        .flatMap((part) => (part.choices ?? []) as Body[])
        .map((choice) => choice.delta ?? choice.message)
      const calls = told.flatMap(({ tool_calls: called = [] }) => called as Body[])
      return {
        text: told.map(({ content }) => content ?? "").join(""),
        calls: calls.map((called) => JSON.parse(called.function.arguments) as object),
        ids: calls.map(({ id }) => String(id)),
      }
    },
  },
  Messages: {
    path: "/v1/messages",
    body: {
      max_tokens: 100,
      messages: [{ role: "user", content: "Hi" }],
      tools: [{ name: "look", description: "Looks", input_schema: parameters }],
    },
    read(parts) {
      const blocks = parts.flatMap((part) => (part.content_block ?? part.content ?? []) as Body | Body[]) as Body[]
      const deltas = parts.flatMap((part) => (part.delta === undefined ? [] : [part.delta as Body]))
      const calls = blocks.filter(({ type }) => type === "tool_use")
      const inputs = deltas.filter(({ type }) => type === "input_json_delta")
      return {
        text: [...blocks, ...deltas].map(({ text }) => text ?? "").join(""),
        calls:
          inputs.length > 0
            ? inputs.map((input) => JSON.parse(input.partial_json) as object)
            : calls.map(({ input }) => input as object),
        ids: calls.map(({ id }) => String(id)),
      }
    },
  },
}

describe.each(Object.entries(CASES))("a model's server that sends %s", (_, given) => {
  test.each(Object.keys(WIRES).flatMap((name) => [true, false].map((stream) => [name, stream] as const)))(
    "%s, streamed %s: no broken call, nothing twice, nothing lost",
    async (name, stream) => {
      const { path, body, read } = WIRES[name]!
      const baseUrl = await rawModel(given)
      const backend = createOpenAICompatibleBackend({ baseUrl, modelName: "qwen2.5-7b", retryDelaysMs: [] })
      const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
      const response = await app.request(`http://localhost${path}`, {
        method: "POST",
        headers: { host: "localhost", "content-type": "application/json" },
        body: JSON.stringify({ model: "m", stream, ...body }),
      })
      const lines = (await response.text()).split("\n").map((line) => line.replace(/^data: /, ""))
      const parts = lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Body] : []))
      const failed = response.status >= 400 || parts.some(({ error }) => error)
      const seen = read(parts)
      expect(new Set(seen.ids).size).toBe(seen.ids.length)
      expect(failed, JSON.stringify(parts)).toBe(given.failed === true)
      if (given.failed === true) return expect(seen.calls).toEqual([])
      expect(seen.text.split("MARK").length).toBeLessThanOrEqual(2)
      expect(seen).toMatchObject({
        ...(given.text === undefined ? {} : { text: given.text }),
        ...(given.calls === undefined ? {} : { calls: given.calls }),
      })
    },
  )
})

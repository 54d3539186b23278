import type { Backend, InferEvent, InferRequest } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"

interface Call {
  name: string
  arguments: Record<string, unknown>
}

/** What the model does in one reply. */
interface Step {
  say?: string
  call?: Call
}

// oxlint-disable-next-line typescript/no-explicit-any -- the answers of four wires are read, each in its form
type Body = Record<string, any>

const parameters = {
  type: "object",
  properties: { text: { type: "string", description: "What it is about" }, count: { type: "integer" } },
  required: ["text"],
}
const many = Array.from({ length: 200 }, (_, index) => ({
  name: `job_${index}`,
  description: `Does job ${index}, about subject${index}`,
  parameters,
}))

const ABILITIES = {
  text: { nativeTools: false, grammar: false, jsonSchema: false },
  grammar: { nativeTools: false, grammar: true, jsonSchema: false },
  native: { nativeTools: true, grammar: false, jsonSchema: false },
}
type Delivery = keyof typeof ABILITIES

/** A gateway before a model that does what stands in its steps, and a window in which 200 tools have no room. */
function gatewayOf(delivery: Delivery, steps: readonly Step[]) {
  const requests: InferRequest[] = []
  const left = [...steps]
  const backend: Backend = {
    kind: "scripted",
    abilities: ABILITIES[delivery],
    contextTokens: 8192,
    modelName: () => "qwen2.5-7b-instruct",
    async *infer(request): AsyncGenerator<InferEvent> {
      requests.push(structuredClone(request))
      const { say = "", call } = left.shift() ?? { say: "There is no step left." }
      if (say !== "") yield { type: "text-delta", text: say }
      if (call !== undefined && delivery === "native") {
        const id = `id_${requests.length}`
        yield { type: "call-delta", index: 0, id, name: call.name, arguments: JSON.stringify(call.arguments) }
      } else if (call !== undefined)
        yield { type: "text-delta", text: `<tool_call>\n${JSON.stringify(call)}\n</tool_call>` }
      const usage = { inputTokens: 10, outputTokens: 5 }
      yield { type: "end", finishReason: call === undefined ? "stop" : "tool-calls", usage }
    },
  }
  // Each process has a gateway of its own: what it kept of conversations is gone with it.
  const start = () => {
    const app = createApp({ tools: new ToolRegistry() }, (application) =>
      gatewayRoutes(application, { backend, answering: { deferTools: 0.3 } }),
    )
    return async (path: string, body: object) => {
      const headers = { host: "localhost", "content-type": "application/json" }
      return app.request(`http://localhost${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    }
  }
  return { requests, left, start }
}

/** What a client saw of an answer, and the messages with which it goes on. */
interface Seen {
  text: string
  calls: Call[]
  reason: string
  notes: { code: string; message: string }[]
  next: unknown[]
  header: string | null
}

interface ClientOf {
  path: string
  stream: boolean
  body(messages: readonly unknown[]): Body
  first: unknown[]
  seen(text: string): Omit<Seen, "header">
}

const ask = { role: "user", content: "Do job 150." }

function dataOf(text: string): Body[] {
  return text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6)) as Body] : []))
}

function chat(stream: boolean): ClientOf {
  const tools = many.map((tool) => ({ type: "function", function: tool }))
  return {
    path: "/v1/chat/completions",
    stream,
    first: [ask],
    body: (messages) => ({ model: "m", stream, tools, messages }),
    seen(text) {
      const chunks = stream ? dataOf(text) : [JSON.parse(text) as Body]
      const parts = chunks.flatMap(({ choices }) => choices.map((choice: Body) => choice.delta ?? choice.message))
      const said = parts.map(({ content }) => content ?? "").join("")
      const called = parts.flatMap(({ tool_calls: calls = [] }) => calls) as Body[]
      const message = { role: "assistant", content: said, ...(called.length === 0 ? {} : { tool_calls: called }) }
      const results = called.map(({ id }) => ({ role: "tool", tool_call_id: id, content: "done" }))
      return {
        text: said,
        calls: called.map(({ function: body }) => ({ name: body.name, arguments: JSON.parse(body.arguments) })),
        reason: chunks.flatMap(({ choices }) => choices.map((choice: Body) => choice.finish_reason ?? "")).join(""),
        notes: chunks.flatMap(({ toolwright }) => toolwright?.notes ?? []),
        next: [message, ...results],
      }
    },
  }
}

function responses(stream: boolean): ClientOf {
  const tools = many.map((tool) => ({ type: "function", ...tool }))
  return {
    path: "/v1/responses",
    stream,
    first: [ask],
    body: (input) => ({ model: "m", stream, tools, input }),
    seen(text) {
      const whole = stream
        ? dataOf(text).find(({ type }) => type === "response.completed")!.response
        : (JSON.parse(text) as Body)
      const calls = whole.output.filter(({ type }: Body) => type === "function_call") as Body[]
      const messages = whole.output.filter(({ type }: Body) => type === "message") as Body[]
      return {
        text: messages.flatMap(({ content }) => content.map((part: Body) => part.text)).join(""),
        calls: calls.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) })),
        reason: calls.length > 0 ? "call" : "stop",
        notes: whole.toolwright?.notes ?? [],
        next: [
          ...whole.output,
          ...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "done" })),
        ],
      }
    },
  }
}

function anthropic(stream: boolean): ClientOf {
  const tools = many.map(({ parameters: input_schema, ...tool }) => ({ ...tool, input_schema }))
  return {
    path: "/v1/messages",
    stream,
    first: [ask],
    body: (messages) => ({ model: "m", max_tokens: 100, stream, tools, messages }),
    seen(text) {
      const events = stream ? dataOf(text) : [JSON.parse(text) as Body]
      const blocks: Body[] = stream ? [] : events[0]!.content
      for (const { type, content_block: block, delta } of stream ? events : []) {
        if (type === "content_block_start") blocks.push({ ...block })
        if (delta?.type === "text_delta") blocks.at(-1)!.text += delta.text
        if (delta?.type === "input_json_delta") blocks.at(-1)!.input = JSON.parse(delta.partial_json)
      }
      const content = blocks
      const calls = content.filter(({ type }) => type === "tool_use")
      const results = calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "done" }))
      return {
        text: content.map((block) => block.text ?? "").join(""),
        calls: calls.map(({ name, input }) => ({ name, arguments: input })),
        reason: events.map((event) => event.stop_reason ?? event.delta?.stop_reason ?? "").join(""),
        notes: events.flatMap(({ toolwright }) => toolwright?.notes ?? []),
        next: [{ role: "assistant", content }, ...(results.length === 0 ? [] : [{ role: "user", content: results }])],
      }
    },
  }
}

function ollama(stream: boolean): ClientOf {
  const tools = many.map((tool) => ({ type: "function", function: tool }))
  return {
    path: "/api/chat",
    stream,
    first: [ask],
    body: (messages) => ({ model: "m", stream, tools, messages }),
    seen(text) {
      const lines = text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Body]))
      const calls = lines.flatMap(({ message }) => message.tool_calls ?? []) as Body[]
      const said = lines.map(({ message }) => message.content).join("")
      return {
        text: said,
        calls: calls.map(({ function: { name, arguments: args } }) => ({ name, arguments: args })),
        reason: lines.map(({ done_reason: reason = "" }) => reason).join(""),
        notes: lines.flatMap(({ toolwright }) => toolwright?.notes ?? []),
        // Neither ids nor names come back from older clients.
        next: [
          {
            role: "assistant",
            content: said,
            tool_calls: calls.map(({ function: { name, arguments: args } }) => ({
              function: { name, arguments: args },
            })),
          },
          ...calls.map(() => ({ role: "tool", content: "done" })),
        ],
      }
    },
  }
}

const CLIENTS = [chat, responses, anthropic, ollama].flatMap((client) =>
  [false, true].map((stream) => [client.name, stream ? "streamed" : "whole", client(stream)] as const),
)

type Asker = ReturnType<ReturnType<typeof gatewayOf>["start"]>

async function turn(asker: Asker, client: ClientOf, messages: readonly unknown[]): Promise<Seen> {
  const response = await asker(client.path, client.body(messages))
  const text = await response.text()
  expect(response.status, text).toBe(200)
  return { ...client.seen(text), header: response.headers.get("x-toolwright-deferred-tools") }
}

const found = (name: string, delivery: Delivery): Call => {
  const call = { name, arguments: { text: "it", count: 2 } }
  return delivery === "native" ? { name: "call_tool", arguments: call } : call
}
const search = (query: string): Step => ({ say: "I look.\n", call: { name: "tool_search", arguments: { query } } })

/** What a server has in its cache: everything of the request before, up to what it answers now. */
function expectCached(requests: readonly InferRequest[]): void {
  for (const [at, request] of requests.entries()) {
    expect(JSON.stringify(request.tools ?? [])).toBe(JSON.stringify(requests[0]!.tools ?? []))
    const before = requests[at - 1]?.messages ?? []
    expect(request.messages.slice(0, before.length)).toEqual(before)
  }
}

describe.each(["text", "grammar", "native"] as const)("200 tools told in %s", (delivery) => {
  test.each(CLIENTS)(
    "of %s, %s: the model finds what it calls, the client sees the call alone",
    async (_, __, client) => {
      const { requests, start } = gatewayOf(delivery, [
        search("subject150"),
        { say: "Found. ", call: found("job_150", delivery) },
        search("job_160"),
        { call: found("job_160", delivery) },
        { call: found("job_150", delivery) },
        { say: "All done." },
      ])
      const asker = start()
      const messages = [...client.first]
      const seen: Seen[] = []
      for (let round = 0; round < 4; round++) {
        seen.push(await turn(asker, client, messages))
        messages.push(...seen.at(-1)!.next)
      }
      expect(seen.map(({ calls }) => calls.map(({ name }) => name))).toEqual([
        ["job_150"],
        ["job_160"],
        ["job_150"],
        [],
      ])
      expect(seen[0]!.calls[0]!.arguments).toEqual({ text: "it", count: 2 })
      expect(seen[0]!.text.trim()).toMatch(/^I look\.\n+Found\.$/)
      expect(seen[3]!.text).toBe("All done.")
      expect(seen[0]!.notes).toMatchObject([{ code: "tools-found", message: expect.stringContaining("job_150") }])
      expect(JSON.stringify(messages)).not.toMatch(/tool_search|call_tool/)
      expect(Number(seen[0]!.header)).toBeGreaterThan(100)

      expect(requests).toHaveLength(6)
      expectCached(requests)
      const front = JSON.stringify([requests[0]!.messages[0], requests[0]!.tools])
      expect(front).toContain("tool_search")
      expect(front).toContain("subject3")
      expect(front).not.toContain("subject150")
      expect(JSON.stringify(requests[1]!.messages.at(-1))).toContain("subject150")
      if (delivery === "grammar") {
        expect(requests[0]!.grammar).not.toContain("job_150")
        expect(requests[1]!.grammar).toContain("job_150")
      }
    },
  )

  test.each(CLIENTS)("of %s, %s, after a restart: what was called is shown once more", async (_, __, client) => {
    const { requests, start } = gatewayOf(delivery, [
      search("subject150"),
      { call: found("job_150", delivery) },
      { call: found("job_150", delivery) },
      { say: "All done." },
    ])
    const messages = [...client.first]
    for (const asker of [start(), start(), start()]) messages.push(...(await turn(asker, client, messages)).next)
    expect(requests).toHaveLength(4)
    expect(JSON.stringify(requests[2]!.messages)).toContain("subject150")
    expectCached(requests.slice(2))
    const front = requests[0]!.messages.length
    expect(requests[2]!.messages.slice(0, front)).toEqual(requests[0]!.messages)
  })

  test("a search that leads to an answer is known in the next request", async () => {
    const { requests, start } = gatewayOf(delivery, [
      search("subject150"),
      { say: "There is job_150. Shall I?" },
      { call: found("job_150", delivery) },
    ])
    const [asker, client] = [start(), chat(true)]
    const first = await turn(asker, client, client.first)
    const second = await turn(asker, client, [...client.first, ...first.next, { role: "user", content: "Yes" }])
    expect(first.reason).toBe("stop")
    expect(second.calls).toHaveLength(1)
    expectCached(requests)
  })

  test("a search beside a call stays ours, and the call is told", async () => {
    const { requests, start } = gatewayOf("text", [
      { say: `<tool_call>\n${JSON.stringify(search("job_150").call)}\n</tool_call>\n`, call: found("job_3", "text") },
      { call: found("job_150", "text") },
    ])
    const [asker, client] = [start(), chat(false)]
    const first = await turn(asker, client, client.first)
    expect(first.calls).toEqual([found("job_3", "text")])
    const second = await turn(asker, client, [...client.first, ...first.next])
    expect(second.calls).toEqual([found("job_150", "text")])
    expect(JSON.stringify(requests[1]!.messages)).toContain("subject150")
  })

  test("a model that only searches comes to an end", async () => {
    const { requests, start } = gatewayOf(
      delivery,
      Array.from({ length: 30 }, () => search("nothing of the kind")),
    )
    const seen = await turn(start(), chat(true), [ask])
    expect(requests.length).toBeLessThan(10)
    expect(seen.calls).toEqual([])
    expect(seen.reason).toBe("stop")
    expect(JSON.stringify(requests.at(-1)!.messages)).toContain("No tool is about")
  })
})

describe("what is deferred", () => {
  const asked = async (body: Body, path = "/v1/chat/completions", steps: Step[] = [{ say: "Hi" }]) => {
    const { requests, start } = gatewayOf("text", steps)
    const response = await start()(path, { messages: [ask], model: "m", max_tokens: 50, ...body })
    return { response, body: (await response.json()) as Body, front: JSON.stringify(requests[0]?.messages[0]) }
  }
  const functions = many.map((tool) => ({ type: "function", function: tool }))

  test("is nothing where all tools have room, or a client has a search of its own", async () => {
    const few = await asked({ tools: functions.slice(0, 10) })
    expect(few.response.headers.get("x-toolwright-deferred-tools")).toBeNull()
    expect(few.front).not.toContain("tool_search")
    const own = { type: "function", function: { name: "tool_search", description: "Theirs", parameters } }
    const { front } = await asked({ tools: [...functions, own] })
    expect(front).toContain("subject199")
  })

  test("is what Anthropic's or OpenAI's own search would find, however little it is", async () => {
    const [first, second] = many.slice(0, 2).map(({ parameters: input_schema, ...tool }) => ({ ...tool, input_schema }))
    const theirs = { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" }
    const messages = await asked({ tools: [theirs, first, { ...second, defer_loading: true }] }, "/v1/messages")
    expect(messages.response.headers.get("x-toolwright-deferred-tools")).toBe("1")
    expect(messages.response.headers.get("x-toolwright-left-out")).toBeNull()
    expect(messages.front).toContain("subject0")
    expect(messages.front).not.toContain("subject1")

    const items = many.slice(0, 2).map((tool) => ({ type: "function", ...tool }))
    const tools = [{ type: "tool_search" }, items[0], { ...items[1], defer_loading: true }]
    const { response, front } = await asked({ tools, input: "Hi", messages: undefined }, "/v1/responses")
    expect(response.headers.get("x-toolwright-deferred-tools")).toBe("1")
    expect(front).not.toContain("subject1")
  })

  test("takes no room from the reply", async () => {
    const { response } = await asked({ tools: functions, max_tokens: 4000 })
    expect(response.headers.get("x-toolwright-max-tokens")).toBeNull()
  })
})

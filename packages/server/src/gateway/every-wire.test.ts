import type { Backend, FinishReason } from "@toolwright/backends"
import { createAnswering } from "@toolwright/dialogue"
import type { ToolCall } from "@toolwright/toolbox"
import { formatterById, type OpenAITool } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { FAMILIES } from "./testing/families.ts"
import { respond } from "./respond.ts"
import type { GatewayEvent, Wire } from "./wire.ts"
import { anthropicMessages } from "./wires/anthropic/wire.ts"
import { ollama } from "./wires/ollama/wire.ts"
import { openAIChat } from "./wires/openai-chat/wire.ts"
import { openAIResponses } from "./wires/responses/wire.ts"

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
}
const weather = { name: "get_weather", description: "The weather", parameters }
const now = { name: "now", description: "The time", parameters: { type: "object" } }
const tools: OpenAITool[] = [weather, now].map((one) => ({ type: "function", function: one }))
const CALLS = [
  { id: "call_1", name: "get_weather", arguments: { city: 'Zürich </tool_call> {"', days: 12 } },
  { id: "call_2", name: "now", arguments: {} },
]

// oxlint-disable-next-line typescript/no-explicit-any -- the answers of four wires are read, each in its form
type Body = Record<string, any>

/** What a client makes of an answer; `pieces` is the text as it came, `text` what the end says of it, where it does. */
interface Seen {
  pieces: string
  text: string
  calls: { name: string; arguments: unknown }[]
  finish: string
}

interface Reading {
  wire: Wire
  path: string
  body: Body
  reasons: Partial<Record<FinishReason, string>>
  /** Of one body, or of the pieces of a stream. */
  seen(parts: Body[], stream: boolean): Seen
}

const user = { role: "user", content: "Weather?" }

const WIRES: Readonly<Record<string, Reading>> = {
  Chat: {
    wire: openAIChat,
    path: "/v1/chat/completions",
    body: { messages: [user], tools },
    reasons: { length: "length", "tool-calls": "tool_calls", stop: "stop" },
    seen(parts) {
      const choices = parts.flatMap((part) => part.choices as Body[])
      const said = choices.map((choice) => (choice.delta ?? choice.message) as Body)
      const text = said.map(({ content }) => content ?? "").join("")
      const calls = said.flatMap(({ tool_calls: called = [] }) => called as Body[])
      return {
        pieces: text,
        text,
        calls: calls.map(({ function: { name, arguments: args } }) => ({ name, arguments: JSON.parse(args) })),
        finish: choices.map(({ finish_reason: reason }) => reason ?? "").join(""),
      }
    },
  },
  Responses: {
    wire: openAIResponses(),
    path: "/v1/responses",
    body: { input: [user], tools: [weather, now].map((one) => ({ type: "function", ...one })) },
    reasons: { length: "max_output_tokens", "tool-calls": "completed", stop: "completed" },
    seen(parts, stream) {
      const whole = (stream ? parts.at(-1)!.response : parts[0]) as Body
      const texts = (whole.output as Body[]).flatMap(({ type, content }) =>
        type === "message" ? content : [],
      ) as Body[]
      const calls = (whole.output as Body[]).filter(({ type }) => type === "function_call")
      const text = texts.map((part) => part.text).join("")
      const deltas = parts.filter(({ type }) => type === "response.output_text.delta").map(({ delta }) => delta)
      const done = parts.filter(({ type }) => type === "response.function_call_arguments.done")
      if (stream) expect(done.map(({ arguments: args }) => args)).toEqual(calls.map(({ arguments: args }) => args))
      return {
        pieces: stream ? deltas.join("") : text,
        text,
        calls: calls.map(({ name, arguments: args }) => ({ name, arguments: JSON.parse(args) })),
        finish: whole.incomplete_details?.reason ?? whole.status,
      }
    },
  },
  Messages: {
    wire: anthropicMessages,
    path: "/v1/messages",
    body: {
      max_tokens: 100,
      messages: [user],
      tools: [weather, now].map(({ parameters: input_schema, ...one }) => ({ ...one, input_schema })),
    },
    reasons: { length: "max_tokens", "tool-calls": "tool_use", stop: "end_turn" },
    seen(parts, stream) {
      const blocks: Body[] = stream ? [] : parts[0]!.content
      let open = 0
      for (const { type, index, content_block: block, delta } of stream ? parts : []) {
        if (type === "content_block_start") {
          expect([index, open++]).toEqual([blocks.length, 0])
          blocks.push({ ...block })
        }
        if (type === "content_block_stop") expect(--open).toBe(0)
        if (delta?.type === "text_delta") blocks.at(-1)!.text += delta.text
        if (delta?.type === "input_json_delta") blocks.at(-1)!.input = JSON.parse(delta.partial_json)
      }
      const text = blocks.map((block) => block.text ?? "").join("")
      const calls = blocks.filter(({ type }) => type === "tool_use")
      return {
        pieces: text,
        text,
        calls: calls.map(({ name, input }) => ({ name, arguments: input })),
        finish: parts.map((part) => part.stop_reason ?? part.delta?.stop_reason ?? "").join(""),
      }
    },
  },
  Ollama: {
    wire: ollama,
    path: "/api/chat",
    body: { messages: [user], tools },
    reasons: { length: "length", "tool-calls": "stop", stop: "stop" },
    seen(parts) {
      const text = parts.map(({ message }) => message.content).join("")
      const calls = parts.flatMap(({ message }) => (message.tool_calls ?? []) as Body[])
      return {
        pieces: text,
        text,
        calls: calls.map(({ function: { name, arguments: args } }) => ({ name, arguments: args })),
        finish: parts.map(({ done_reason: reason = "" }) => reason).join(""),
      }
    },
  },
}

/** What is told of a reply that says this and ends so. */
async function eventsOf(family: string, text: string, finishReason: FinishReason): Promise<GatewayEvent[]> {
  const backend: Backend = {
    kind: "said",
    abilities: { nativeTools: false, grammar: false, jsonSchema: false },
    modelName: () => family,
    async *infer() {
      for (let at = 0; at < text.length; at += 7) yield { type: "text-delta", text: text.slice(at, at + 7) }
      yield { type: "end", finishReason }
    },
  }
  const answering = createAnswering(backend, { formatter: formatterById(family) })
  const events: GatewayEvent[] = []
  for await (const event of answering.answer({ messages: [{ role: "user", content: "?" }], tools })) events.push(event)
  return events
}

async function* replayed(events: readonly GatewayEvent[]): AsyncGenerator<readonly GatewayEvent[], void> {
  for (const event of events) yield [event]
}

async function seenIn({ wire, path, body, seen }: Reading, events: readonly GatewayEvent[], stream: boolean) {
  const request = wire.read({ model: "m", ...body, stream }, { path, caller: "", header: () => undefined })
  if ("ready" in request) throw new Error("the model is not asked")
  const head = { id: crypto.randomUUID(), model: "m", created: 0 }
  const response = await respond(
    request,
    { events: replayed(events), leave: () => {} },
    { head, headers: {}, sink: undefined },
  )
  const lines = (await response.text()).split("\n").map((line) => line.replace(/^data: /, ""))
  return seen(
    lines.flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Body] : [])),
    stream,
  )
}

describe.each(FAMILIES)("every prefix of a reply of %s, in every wire, streamed and whole", (family) => {
  test.each(["length", "stop"] as const)(
    "that ends by %s: no broken call, no text twice, the model's reason",
    async (finishReason) => {
      const reply = `I look at it now.\n${formatterById(family).printCalls(CALLS, [])}`
      for (let end = 0; end <= reply.length; end++) {
        const cut = reply.slice(0, end)
        const events = await eventsOf(family, cut, finishReason)
        const text = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")
        const calls = events.flatMap((event) => (event.type === "call" ? [event.call] : []))
        const ended = events.flatMap((event) => (event.type === "end" ? [event.finishReason] : []))
        expect(ended, cut).toHaveLength(1)
        expectTold(text, calls, cut)
        for (const [name, reading] of Object.entries(WIRES))
          for (const stream of [true, false])
            expect(await seenIn(reading, events, stream), `${name}, streamed ${stream}: ${cut}`).toEqual({
              pieces: text,
              text,
              calls: calls.map(({ name: called, arguments: args }) => ({ name: called, arguments: args })),
              finish: reading.reasons[ended[0]!],
            })
      }
    },
  )
})

/** What is told stands in the reply, in its order, and what is told as a call is no text. */
function expectTold(text: string, calls: readonly ToolCall[], cut: string): void {
  expect(text.length, cut).toBeLessThanOrEqual(cut.length)
  expect(text.split("I look").length, cut).toBeLessThanOrEqual(2)
  expect(new Set(calls.map(({ name }) => name)).size, cut).toBe(calls.length)
  if (calls.some(({ name }) => name === "get_weather")) expect(text, cut).not.toContain("Zürich")
  else if (cut.includes("Zürich")) expect(text.split("Zürich").length, `${cut}: ${text}`).toBe(2)
}

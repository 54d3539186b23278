import assert from "node:assert/strict"
import { isDeepStrictEqual } from "node:util"
import type { Backend, FinishReason } from "@toolwright/backends"
import { createAnswering } from "@toolwright/dialogue"
import type { ToolCall } from "@toolwright/toolbox"
import { formatterById, type OpenAITool } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { FAMILIES } from "./testing/families.ts"
import { respond } from "./respond.ts"
import { WIRES, type WireClient } from "./testing/wires.ts"
import type { GatewayEvent } from "./wire.ts"

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

/** Each place is read in two of the eight ways, others at the next one; in all of them by `npm run test:whole`. */
const WHOLE = process.env.TOOLWRIGHT_WHOLE !== undefined
const WAYS = Object.entries(WIRES).flatMap(([name, reading]) =>
  [true, false].map((stream) => ({ name, reading, stream })),
)

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

async function seenIn({ wire, path, body, read }: WireClient, events: readonly GatewayEvent[], stream: boolean) {
  const asked = { model: "m", ...body({ tools }), stream }
  const request = wire.read(asked, { path, caller: "", header: () => undefined })
  if ("ready" in request) throw new Error("the model is not asked")
  const head = { id: crypto.randomUUID(), model: "m", created: 0 }
  const response = await respond(
    request,
    { events: replayed(events), leave: () => {} },
    { head, headers: {}, sink: undefined },
  )
  const { pieces, text, calls, finish } = read(await response.text(), stream)
  return { pieces, text, calls, finish }
}

describe.each(FAMILIES)("every prefix of a reply of %s, in every wire, streamed and whole", (family) => {
  test.each([
    ["length", 0],
    ["stop", 1],
  ] as const)("that ends by %s: no broken call, no text twice, the model's reason", async (finishReason, turn) => {
    const reply = `I look at it now.\n${formatterById(family).printCalls(CALLS, [])}`
    for (let end = 0; end <= reply.length; end++) {
      const cut = reply.slice(0, end)
      const events = await eventsOf(family, cut, finishReason)
      const text = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("")
      const calls = events.flatMap((event) => (event.type === "call" ? [event.call] : []))
      const ended = events.flatMap((event) => (event.type === "end" ? [event.finishReason] : []))
      assert.equal(ended.length, 1, cut)
      holdTold(text, calls, cut)
      const told = calls.map(({ id, name: called, arguments: args }) => ({ id, name: called, arguments: args }))
      for (const [at, { name, reading, stream }] of WAYS.entries()) {
        if (!WHOLE && (end + at + turn) % 4 !== 0 && end < reply.length) continue
        const seen = await seenIn(reading, events, stream)
        const wanted = { pieces: text, text, calls: told, finish: reading.reasons[ended[0]!] }
        // Of so many answers `expect` looks at those alone that it has something to say of.
        if (!isDeepStrictEqual(seen, wanted)) expect(seen, `${name}, streamed ${stream}: ${cut}`).toEqual(wanted)
      }
    }
  })
})

/** What is told stands in the reply, in its order, and what is told as a call is no text. */
function holdTold(text: string, calls: readonly ToolCall[], cut: string): void {
  assert(text.length <= cut.length, cut)
  assert(text.split("I look").length <= 2, cut)
  assert.equal(new Set(calls.map(({ name }) => name)).size, calls.length, cut)
  if (calls.some(({ name }) => name === "get_weather")) assert(!text.includes("Zürich"), cut)
  else if (cut.includes("Zürich")) assert.equal(text.split("Zürich").length, 2, `${cut}: ${text}`)
}

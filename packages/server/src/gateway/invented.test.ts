import fc from "fast-check"
import { createOpenAICompatibleBackend } from "@toolwright/backends"
import { ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { formatterById, type OpenAITool } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"
import { FAMILIES } from "./testing/families.ts"
import { WIRES, type Asked, type Seen, type WireClient } from "./testing/wires.ts"

const RUNS = process.env.TOOLWRIGHT_WHOLE ? 200 : 16

const tool = (name: string, properties: JsonObject, required: string[]): OpenAITool => ({
  type: "function",
  function: { name, description: `Does ${name}`, parameters: { type: "object", properties, required } },
})
const text = { type: "string" }
const TOOLS = [
  tool("get_weather", { city: text, days: { type: "integer" }, fine: { type: "boolean" } }, ["city"]),
  tool("write_note", { body: text, tags: { type: "array", items: text } }, ["body"]),
  tool("now", {}, []),
]
const SCHEMA = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] }
const STOP = "HALT"
/** Where Harmony's models end their reply, after each call. */
const CALL_ENDS = "<|call|>"
/** What is told of every answer that comes to its end. */
const TOKENS = 7

/** The connection breaks, or is closed as if all were said. */
const BROKEN = new Set(["dropped", "closed"])

interface Said {
  /** What the model writes, call by call, behind its words. */
  prose: string
  thoughts: { text: string; in: "field" | "marks" } | undefined
  calls: { name: string; arguments: JsonObject }[]
  /** Something in the middle that is not as it should be. */
  damage: { at: number; takes: number; puts: string } | undefined
  end: { kind: "stop" | "length" | "dropped" | "closed"; at: number }
  /** Characters of each piece, and bytes of each packet. */
  piece: number
  packet: number
  choice: Asked["choice"] | undefined
  schema: boolean
  stop: boolean
}

const value = fc
  .array(fc.constantFrom("ü", " ", "\n", '"', "{", "]", ", ", "🦊", "a", ": ", "\\", "</b>"), { maxLength: 6 })
  .map((parts) => parts.join(""))
const marked = (mark: string): fc.Arbitrary<string> => value.map((some) => `K${mark}Q${some}z`)
const maybe = fc.option(fc.nat(999), { nil: undefined })

const callOf = (at: number): fc.Arbitrary<Said["calls"][0]> =>
  fc.oneof(
    { weight: 4, arbitrary: weatherCall(at) },
    fc
      .record({ body: marked(`n${at}`), tags: fc.array(marked(`t${at}`), { maxLength: 1 }) })
      .map((args) => ({ name: "write_note", arguments: args })),
    fc.constant({ name: "now", arguments: {} }),
    marked(`u${at}`).map((path) => ({ name: "remove_all", arguments: { path } })),
  )

function weatherCall(at: number): fc.Arbitrary<Said["calls"][0]> {
  const days = fc.oneof(fc.nat(99), fc.constantFrom<unknown>("2", "soon"))
  return fc
    .record({ city: marked(`c${at}`), days, fine: fc.boolean() }, { requiredKeys: ["city"] })
    .map((args) => ({ name: "get_weather", arguments: args }))
}

const calls = fc.oneof(
  fc.constant<Said["calls"]>([]),
  callOf(0).map((one) => [one]),
  fc.tuple(callOf(0), callOf(1)),
)

const said: fc.Arbitrary<Said> = fc.record({
  prose: fc.oneof(fc.constant(""), marked("p"), fc.constant(`KpQ ${STOP} KqQ`)),
  thoughts: fc.option(fc.record({ text: marked("r"), in: fc.constantFrom("field" as const, "marks" as const) }), {
    nil: undefined,
  }),
  calls,
  damage: fc.option(
    fc.record({ at: fc.nat(400), takes: fc.nat(12), puts: fc.constantFrom("", "{{", '"', "</", "\n", "<") }),
    { nil: undefined, freq: 3 },
  ),
  end: fc.record({ kind: fc.constantFrom("stop", "stop", "length", "dropped", "closed"), at: fc.nat(600) }),
  piece: fc.integer({ min: 1, max: 40 }),
  packet: fc.integer({ min: 1, max: 400 }),
  choice: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    fc.constantFrom<NonNullable<Asked["choice"]>>(
      "none",
      "required",
      { named: "get_weather" },
      { allowed: "get_weather" },
    ),
  ),
  schema: maybe.map((one) => one !== undefined && one < 200),
  stop: fc.boolean(),
})

/** All that the model writes before it ends or is cut off, behind the thoughts that stand in a field of their own. */
function writtenBy(family: string, { prose, thoughts, calls: made, damage, end }: Said): string {
  const printed = made.length === 0 ? "" : formatterById(family).printCalls(made.map((one) => ({ id: "", ...one })))
  let whole = `${prose}${prose !== "" && printed !== "" ? "\n" : ""}${printed}`
  if (damage !== undefined) {
    const at = damage.at % (whole.length + 1)
    whole = whole.slice(0, at) + damage.puts + whole.slice(at + damage.takes)
  }
  if (thoughts?.in === "marks") whole = `<think>\n${thoughts.text}\n</think>\n\n${whole}`
  // Harmony's models write one call and stop.
  const stopped = whole.indexOf(CALL_ENDS)
  if (stopped >= 0) whole = whole.slice(0, stopped + CALL_ENDS.length)
  return end.kind === "stop" ? whole : whole.slice(0, end.at % (whole.length + 1))
}

/** The server of such a model: it passes on what is written, and knows nothing of calls or stops. */
function serverOf(replies: { text: string; said: Said }[]): typeof fetch {
  let asked = 0
  return async () => {
    const { text: written, said: about } = replies[Math.min(asked++, replies.length - 1)]!
    const { end, thoughts, piece, packet } = about
    const chunk = (choices: object[], more: object = {}) => `data: ${JSON.stringify({ id: "c", choices, ...more })}\n\n`
    const delta = (one: object, reason: string | null = null) =>
      chunk([{ index: 0, delta: one, finish_reason: reason }])
    const letters = [...written]
    const pieces: string[] = thoughts?.in === "field" ? [delta({ reasoning_content: thoughts.text })] : []
    for (let at = 0; at < letters.length; at += piece)
      pieces.push(delta({ content: letters.slice(at, at + piece).join("") }))
    if (!BROKEN.has(end.kind))
      pieces.push(
        delta({}, end.kind),
        chunk([], { usage: { prompt_tokens: 5, completion_tokens: TOKENS } }),
        "data: [DONE]\n\n",
      )
    const bytes = Buffer.from(pieces.join(""))
    let at = 0
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (at < bytes.length) controller.enqueue(bytes.subarray(at, (at += packet)))
        else if (end.kind === "dropped") controller.error(new TypeError("terminated"))
        else controller.close()
      },
    })
    return new Response(body, { headers: { "content-type": "text/event-stream" } })
  }
}

/** A gateway before such a server, which can be told anew what its model says. */
function gatewayOf(family: string) {
  let server: typeof fetch | undefined
  const backend = createOpenAICompatibleBackend({
    baseUrl: "http://model.test/v1",
    modelName: "m",
    abilities: { nativeTools: false, grammar: false, jsonSchema: false },
    retryDelaysMs: [],
    fetch: (...asked) => server!(...asked),
  })
  const answering = { formatter: formatterById(family) }
  const app = createApp({ tools: new ToolRegistry() }, (hono) => gatewayRoutes(hono, { backend, answering }))
  return async (client: WireClient, ask: Asked, stream: boolean, says: typeof fetch) => {
    server = says
    const response = await app.request(`http://localhost${client.path}`, {
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json" },
      body: JSON.stringify({ model: "m", stream, ...client.body(ask) }),
    })
    return { status: response.status, raw: await response.text() }
  }
}

const AGAIN: Said = {
  prose: "",
  thoughts: undefined,
  calls: [{ name: "get_weather", arguments: { city: "again" } }],
  damage: undefined,
  end: { kind: "stop", at: 0 },
  piece: 5,
  packet: 50,
  choice: undefined,
  schema: false,
  stop: false,
}

/** The marks in a text, each with how often it stands there. */
function marksIn(some: string): Map<string, number> {
  const found = new Map<string, number>()
  for (const [mark] of some.matchAll(/K[a-z]\d?Q/g)) found.set(mark, (found.get(mark) ?? 0) + 1)
  return found
}

/** What holds of every answer, whatever the model wrote. */
function check(one: Said, reply: string, seen: Seen, { client, ask }: { client: WireClient; ask: Asked }): void {
  const { choice } = ask
  const codes = new Set(seen.notes.map(({ code }) => code))
  expect(seen.pieces).toBe(seen.text)
  // Calls are calls of what was offered, under ids of their own, and fit its schema or are told not to.
  expect(new Set(seen.calls.map(({ id }) => id)).size).toBe(seen.calls.length)
  expect(seen.calls.every(({ id }) => typeof id === "string" && id !== "")).toBe(true)
  for (const call of seen.calls) {
    const offered = choice === "none" ? [] : typeof choice === "object" ? [TOOLS[0]!] : TOOLS
    expect(offered.map((each) => each.function.name)).toContain(call.name)
    if (!codes.has("invalid-arguments")) expectFits(call.name, call.arguments as JsonObject)
  }
  // Nothing twice, and nothing gone: what the model wrote is text, thoughts and calls, or a note holds it.
  const shown = marksIn(`${seen.text}\0${seen.reasoning}\0${JSON.stringify(seen.calls)}`)
  const told = marksIn(JSON.stringify(seen.notes))
  const stops = ask.stop !== undefined && reply.includes(STOP)
  const written = stops ? reply.slice(0, reply.indexOf(STOP)) : reply
  const wrote = marksIn(`${written}\0${one.thoughts?.in === "field" ? one.thoughts.text : ""}`)
  for (const [mark, count] of shown) expect(`${mark} ${count}`).toBe(`${mark} ${wrote.get(mark) ?? 0}`)
  if (seen.failed !== undefined) return
  for (const mark of wrote.keys()) expect([...shown.keys(), ...told.keys()]).toContain(mark)
  // The reason is the model's, or the call's; the counts are the server's.
  const again = codes.has("asked-again")
  const cut = one.end.kind === "length" && !stops && !reply.includes(CALL_ENDS)
  const reason = cut ? "length" : seen.calls.length > 0 ? "tool-calls" : "stop"
  const named = reason === "stop" && stops && client.path === "/v1/messages" ? "stop_sequence" : client.reasons[reason]
  expect(seen.finish).toBe(named)
  // A model that is left at its call does not come to tell them.
  if (!stops && !reply.includes(CALL_ENDS) && !again) expect(seen.tokens).toBe(TOKENS)
  else expect(seen.tokens ?? 0).toBeGreaterThanOrEqual(0)
  if (one.damage === undefined && one.end.kind === "stop" && !stops) expectWholeCalls(one, reply, seen, ask)
}

/** What the model wrote without a fault is called as it wrote it. */
function expectWholeCalls({ calls: made }: Said, reply: string, seen: Seen, { choice }: Asked): void {
  // Where calls are one list, a call in it of no tool keeps the list from being one.
  if (choice !== undefined || made.some(({ name }) => name === "remove_all")) return
  const wanted = made.slice(0, reply.includes(CALL_ENDS) ? 1 : 2)
  expect(seen.calls.map(({ name }) => name)).toEqual(wanted.map(({ name }) => name))
  for (const [at, { arguments: args }] of wanted.entries())
    expect(seen.calls[at]!.arguments).toEqual("days" in args && args.days === "2" ? { ...args, days: 2 } : args)
}

function expectFits(name: string, args: JsonObject): void {
  const { properties, required } = TOOLS.find((one) => one.function.name === name)!.function.parameters as {
    properties: Record<string, { type: string }>
    required: string[]
  }
  for (const key of required) expect(args).toHaveProperty(key)
  for (const [key, { type }] of Object.entries(properties)) {
    if (!(key in args)) continue
    const given = Array.isArray(args[key]) ? "array" : Number.isInteger(args[key]) ? "integer" : typeof args[key]
    expect(given).toBe(type)
  }
}

/** What a client can say in its wire of what is asked. */
function askOf(client: WireClient, { choice, schema, stop }: Said): Asked | undefined {
  if (client.path === "/v1/messages" && typeof choice === "object" && "allowed" in choice) return undefined
  return {
    tools: TOOLS,
    ...(choice === undefined || !client.chooses ? {} : { choice }),
    ...(schema ? { schema: SCHEMA } : {}),
    ...(stop && client.stops ? { stop: STOP } : {}),
  }
}

describe.each(FAMILIES)("invented replies of %s, in every wire, streamed and whole", (family) => {
  const asked = gatewayOf(family)

  async function tried(one: Said, reply: string, client: WireClient, stream: boolean): Promise<void> {
    const ask = askOf(client, one)
    if (ask === undefined) return
    const replies = [
      { text: reply, said: one },
      { text: writtenBy(family, AGAIN), said: AGAIN },
    ]
    const { status, raw } = await asked(client, ask, stream, serverOf(replies))
    try {
      if (status === 200) return check(one, reply, client.read(raw, stream), { client, ask })
      expect([BROKEN.has(one.end.kind), status]).toEqual([true, 502])
      client.failure(JSON.parse(raw) as JsonObject)
    } catch (thrown) {
      const about = `${client.path}, streamed ${stream}, of ${JSON.stringify(reply)}: ${raw}`
      throw new Error(about, { cause: thrown })
    }
  }

  test("every call whole and typed, nothing twice, nothing gone, each wire's own order and end", async () => {
    const property = fc.asyncProperty(said, async (one) => {
      const reply = writtenBy(family, one)
      for (const client of Object.values(WIRES))
        for (const stream of [true, false]) await tried(one, reply, client, stream)
    })
    await fc.assert(property, { numRuns: RUNS })
  })
})

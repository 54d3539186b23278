import assert from "node:assert/strict"
import type { Backend, FinishReason } from "@toolwright/backends"
import { formatterById } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"
import { ToolRegistry } from "@toolwright/toolbox"
import { FAMILIES } from "./testing/families.ts"

const tools = [
  {
    type: "function",
    function: {
      name: "get_weather",
      description: "The weather",
      parameters: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" }, fine: { type: "boolean" } },
        required: ["city"],
      },
    },
  },
  { type: "function", function: { name: "now", description: "The time", parameters: { type: "object" } } },
]
const CALLS = [
  { id: "call_1", name: "get_weather", arguments: { city: 'Zürich </tool_call> {"', days: 12, fine: true } },
  { id: "call_2", name: "now", arguments: {} },
]
/** Where Harmony's models end their reply, after each call. */
const STOPPED = /<\|call\|>/
const PROSE = "I look at it now. "
/** Each place is tried in one of the four ways; in all of them by `npm run test:whole`. */
const WHOLE = process.env.TOOLWRIGHT_WHOLE !== undefined

/** A gateway before a model that writes what it is told to, cut where nobody would, and says why it ended. */
function gatewayOf(family: string) {
  const say = { text: "", finishReason: "stop" as FinishReason }
  const backend: Backend = {
    kind: "said",
    abilities: { nativeTools: false, grammar: false, jsonSchema: false },
    modelName: () => family,
    async *infer() {
      const { text } = say
      for (let at = 0; at < text.length; at += 7) yield { type: "text-delta", text: text.slice(at, at + 7) }
      yield { type: "end", finishReason: say.finishReason }
    },
  }
  const app = createApp({ tools: new ToolRegistry() }, (application) =>
    gatewayRoutes(application, { backend, answering: { formatter: formatterById(family) } }),
  )
  return { app, say }
}

interface Seen {
  content: string
  calls: { name: string; arguments: string }[]
  finish: string
  notes: { code: string }[]
}

interface Chunk {
  choices: {
    delta: { content?: string; tool_calls?: { function: { name: string; arguments: string } }[] }
    message: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] }
    finish_reason: string | null
  }[]
  toolwright?: { notes: { code: string }[] }
}

async function ask({ app }: ReturnType<typeof gatewayOf>, stream: boolean): Promise<Seen> {
  const response = await app.request("http://localhost/v1/chat/completions", {
    method: "POST",
    headers: { host: "localhost", "content-type": "application/json" },
    body: JSON.stringify({ model: "m", stream, tools, messages: [{ role: "user", content: "Weather?" }] }),
  })
  const text = await response.text()
  if (!stream) {
    const { choices, toolwright } = JSON.parse(text) as Chunk
    const [{ message, finish_reason: finish }] = choices as [Chunk["choices"][0]]
    const calls = (message.tool_calls ?? []).map((call) => call.function)
    return { content: message.content ?? "", calls, finish: finish ?? "", notes: toolwright?.notes ?? [] }
  }
  const seen: Seen = { content: "", calls: [], finish: "", notes: [] }
  for (const line of text.split("\n")) {
    if (!line.startsWith("data: {")) continue
    const { choices, toolwright } = JSON.parse(line.slice(6)) as Chunk
    seen.content += choices[0]?.delta.content ?? ""
    seen.calls.push(...(choices[0]?.delta.tool_calls ?? []).map((call) => call.function))
    seen.finish = choices[0]?.finish_reason ?? seen.finish
    seen.notes.push(...(toolwright?.notes ?? []))
  }
  return seen
}

/**
 * What must hold of every answer, wherever the reply was cut. There are thousands of answers: `expect` would take
 * longer than what it looks at.
 */
function check(seen: Seen, reply: string, cut: string, finishReason: FinishReason): void {
  for (const call of seen.calls) {
    const wanted = CALLS.find(({ name }) => name === call.name)
    assert(wanted !== undefined, `${cut}: a call of '${call.name}'`)
    const given = JSON.parse(call.arguments) as object
    // A text that ends on a closing mark is a whole call, as far as anybody can tell who is not told that it was cut
    // off.
    if (finishReason === "length" || !cut.trimEnd().endsWith("</tool_call>") || cut === reply)
      assert.deepEqual(given, wanted.arguments, cut)
  }
  // Nothing is told twice: what is told is in the reply, in its order, and each call is told once.
  assert(seen.calls.length <= CALLS.length, cut)
  assert.equal(new Set(seen.calls.map(({ name }) => name)).size, seen.calls.length, cut)
  assert(seen.content.length <= cut.length, `${cut}: ${seen.content}`)
  assert(countOf(seen.content, PROSE.trim()) <= 1, cut)
  assert(countOf(seen.content, "Zürich") <= countOf(cut, "Zürich"), `${cut}: ${seen.content}`)
  if (seen.calls.some(({ name }) => name === "get_weather")) assert(!seen.content.includes("Zürich"), cut)
  // The reason is the model's, but where it was stopped: a mark of the family's ends the reply.
  const reason =
    finishReason === "length" && !STOPPED.test(cut) ? "length" : seen.calls.length > 0 ? "tool_calls" : "stop"
  assert.equal(seen.finish, reason, cut)
  const most = STOPPED.test(reply) ? 1 : CALLS.length
  if (cut === reply) expect(seen.calls.map(({ name }) => name)).toEqual(CALLS.slice(0, most).map(({ name }) => name))
  // What was begun and not called is told, as text and in a note.
  const begun = cut.slice(PROSE.length).includes("get_weather")
  if (begun && seen.calls.length === 0) assert((seen.content + JSON.stringify(seen.notes)).includes("get_weather"), cut)
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1
}

describe.each(FAMILIES)("every prefix of a reply of %s", (family) => {
  test.each([
    ["streamed, cut off", true, "length", 0],
    ["whole, cut off", false, "length", 1],
    ["streamed, ended", true, "stop", 2],
    ["whole, ended", false, "stop", 3],
  ] as const)("%s: no broken call, nothing twice, the model's reason", async (_, stream, finishReason, turn) => {
    const printed = formatterById(family).printCalls(CALLS, [])
    const reply = `${PROSE}\n${printed}`
    const gateway = gatewayOf(family)
    for (let end = 0; end <= reply.length; end++) {
      if (!WHOLE && end % 4 !== turn && end < reply.length) continue
      const cut = reply.slice(0, end)
      Object.assign(gateway.say, { text: cut, finishReason })
      check(await ask(gateway, stream), reply, cut, finishReason)
    }
  })
})

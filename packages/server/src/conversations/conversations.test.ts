import { createScriptedBackend } from "@toolwright/backends"
import { DynamicExecutor } from "@toolwright/agents"
import { conversationStore, openDatabase, type Conversation, type ConversationStore } from "@toolwright/store"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { expect, test } from "vitest"
import { conversationRoutes, createApp } from "../index.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

const tools = new ToolRegistry()
for (const name of ["search_users", "web_search"])
  tools.register(
    defineTool({
      name,
      description: name,
      parameters: { type: "object", properties: { query: { type: "string" } } },
      execute: ({ query }) => `${name} found ${String(query)}`,
    }),
  )

async function setUp(steps: Steps, store?: ConversationStore | "none", tokens: readonly string[] = []) {
  const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
  const executor = new DynamicExecutor({ tools, backend })
  const kept = store === "none" ? undefined : (store ?? conversationStore(await openDatabase(":memory:")))
  const app = createApp({ tools, tokens: tokens.map((token) => ({ token })) }, (application) =>
    conversationRoutes(application, { store: kept, run: (request) => executor.run(request), modelName: () => "m" }),
  )
  const call = async (method: string, path: string, body?: object, token = tokens[0]) => {
    const response = await app.request(`http://localhost${path}`, {
      method,
      headers: {
        host: "localhost",
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, json: <Value>() => JSON.parse(text) as Value }
  }
  return { call, backend, store: kept! }
}

const exchange: Steps = [
  { reply: { calls: [{ name: "search_users", arguments: { query: "John Doe" } }] } },
  { reply: { calls: [{ name: "web_search", arguments: { query: "Acme Corp" } }] } },
  { reply: "John works at Acme." },
]

test("a conversation keeps questions, calls, results and answers, and the next question knows them", async () => {
  const { call, backend } = await setUp([
    ...exchange,
    { expect: { any: "John works at Acme.", last: "And his age?" }, reply: "I do not know." },
  ])
  const { id } = (await call("POST", "/conversations", {})).json<Conversation>()
  const answer = await call("POST", `/conversations/${id}/chat`, { message: "Find user John Doe" })
  expect(answer.json()).toEqual({ id, message: { role: "assistant", content: "John works at Acme." } })
  const { messages, title } = (await call("GET", `/conversations/${id}`)).json<Conversation>()
  expect(title).toBe("Find user John Doe")
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant", "tool", "assistant"])
  await call("POST", `/conversations/${id}/chat`, { message: "And his age?" })
  expect(backend.remaining).toBe(0)
  expect((await call("GET", "/conversations")).json<Conversation[]>().map((head) => head.id)).toEqual([id])
  expect((await call("DELETE", `/conversations/${id}`)).status).toBe(204)
  expect((await call("GET", `/conversations/${id}`)).status).toBe(404)
})

test("a conversation is there for the token that it began with, and for no other", async () => {
  const [mine, other] = ["a-token-of-mine", "a-token-of-another"]
  const { call, backend } = await setUp([{ reply: "Hello." }], undefined, [mine, other])
  const { id } = (await call("POST", "/conversations", {}, mine)).json<Conversation>()
  await call("POST", `/conversations/${id}/chat`, { message: "a secret of mine" }, mine)
  for (const [method, path, body] of [
    ["GET", `/conversations/${id}`],
    ["POST", `/conversations/${id}/chat`, { message: "And what was said?" }],
    ["DELETE", `/conversations/${id}`],
  ] as const) {
    const { status, text } = await call(method, path, body, other)
    expect([method, status]).toEqual([method, 404])
    expect(text).not.toContain("secret of mine")
  }
  expect((await call("GET", "/conversations", undefined, other)).json()).toEqual([])
  expect(backend.requests, "the other's question reached no model").toHaveLength(1)
  const kept = (await call("GET", `/conversations/${id}`, undefined, mine)).json<Conversation>()
  expect(kept.messages.map(({ content }) => content)).toEqual(["a secret of mine", "Hello."])
})

test("a conversation that has become too large is still read, and nothing more is said in it", async () => {
  const { call, backend, store } = await setUp([{ reply: "Hello." }, { reply: "Once more." }])
  const { id } = await store.create()
  await store.append(id, [{ role: "user", content: "x".repeat(16 * 1024 * 1024 - 100) }])
  const before = await store.size(id)
  expect((await call("POST", `/conversations/${id}/chat`, { message: "y".repeat(200) })).status).toBe(200)
  for (const stream of [false, true, "events"]) {
    const refused = await call("POST", `/conversations/${id}/chat`, { message: "And?", stream })
    expect(refused.json()).toMatchObject({ status: 409, error: { code: "CONVERSATION_FULL" } })
  }
  const { messages } = (await call("GET", `/conversations/${id}`)).json<Conversation>()
  expect([messages.length, backend.requests.length]).toEqual([3, 1])
  expect(await store.size(id)).toBeGreaterThan(before)
})

test("a streamed answer is kept as the whole one is", async () => {
  const { call } = await setUp(exchange)
  const { id } = (await call("POST", "/conversations", { title: "mine" })).json<Conversation>()
  const { text } = await call("POST", `/conversations/${id}/chat`, { message: "Find", stream: true })
  expect(text.match(/\[DONE\]/g)).toHaveLength(1)
  expect(text).toContain("John works at Acme.")
  const { messages, title } = (await call("GET", `/conversations/${id}`)).json<Conversation>()
  expect([title, messages.length]).toEqual(["mine", 6])
})

test("a failing model is told, and the question is kept", async () => {
  const { call } = await setUp([{ reply: { error: { kind: "unreachable" } } }])
  const { id } = (await call("POST", "/conversations", {})).json<Conversation>()
  expect((await call("POST", `/conversations/${id}/chat`, { message: "Find" })).json()).toMatchObject({
    status: 502,
    error: { code: "MODEL_UNREACHABLE" },
  })
  expect((await call("GET", `/conversations/${id}`)).json<Conversation>().messages).toEqual([
    { role: "user", content: "Find" },
  ])
})

test("wrong requests are answered with what is wrong", async () => {
  const { call } = await setUp([])
  expect((await call("POST", "/conversations/none/chat", { message: "x" })).status).toBe(404)
  const { id } = (await call("POST", "/conversations", {})).json<Conversation>()
  expect((await call("POST", `/conversations/${id}/chat`, { message: " " })).status).toBe(422)
  const { call: early } = await setUp([], "none")
  expect((await early("GET", "/conversations")).json()).toMatchObject({
    status: 500,
    detail: "Conversation manager not initialized",
  })
})

test("a call whose arguments are no JSON is answered with a result that says so, and kept with it; nothing runs for it", async () => {
  const { call, backend } = await setUp([
    {
      reply: {
        calls: [
          { id: "broken", name: "web_search", arguments: '{"query": "Ac' },
          { id: "good", name: "search_users", arguments: { query: "Ada" } },
        ],
      },
    },
    { reply: { calls: [{ id: "worse", name: "web_search", arguments: "[" }] } },
    { reply: "Nobody." },
  ])
  const { id } = (await call("POST", "/conversations", {})).json<Conversation>()
  await call("POST", `/conversations/${id}/chat`, { message: "Find Ada" })
  const { messages } = (await call("GET", `/conversations/${id}`)).json<Conversation>()
  const shown = (all: readonly ChatMessage[]) =>
    all.map((message) =>
      message.role === "tool"
        ? `${message.callId}: ${message.content.slice(0, 17)}`
        : `${message.role} ${("toolCalls" in message ? (message.toolCalls ?? []) : []).map((made) => made.id).join("+")}`,
    )
  const exchanged = [
    "assistant broken+good",
    'broken: Arguments of "web',
    "good: search_users foun",
    "assistant worse",
    'worse: Arguments of "web',
  ]
  expect(shown(messages).slice(1, -1)).toEqual(exchanged)
  // What the model is sent is the same: each call with its result, in their order, and no note in the user's name.
  const sent = backend.requests.at(-1)!.messages.slice(2) as ChatMessage[]
  expect(shown(sent)).toEqual(exchanged)
  expect(sent.at(-1)!.content).toContain('Arguments of "web_search" are not a JSON object')
})

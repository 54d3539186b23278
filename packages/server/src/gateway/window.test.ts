import { compactingContext, DynamicExecutor } from "@toolwright/agents"
import { createScriptedBackend } from "@toolwright/backends"
import { conversationStore, openDatabase } from "@toolwright/store"
import { defineTool, success, ToolRegistry } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { conversationRoutes, createApp, gatewayRoutes, type GatewayAgent } from "../index.ts"

const tools = new ToolRegistry()
tools.register(
  defineTool({
    name: "change",
    description: "Changes a file",
    parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    execute: ({ path }) => success({ output: "x".repeat(900), modifiedFiles: [String(path)] }),
  }),
)

const task = `The current task is: ${Array.from({ length: 40 }, (_, number) => `step ${number}`).join(", ")}.`
const long = "Of things that were said before. ".repeat(30)
const rounds = [1, 2, 3, 4, 5, 6].map((number) => ({
  reply: { calls: [{ name: "change", arguments: { path: `src/file-${number}.ts` } }] },
}))

/** A model with a small window behind both kinds of routes. */
async function setUp(before: number) {
  const backend = createScriptedBackend({
    abilities: { nativeTools: true },
    steps: [...Array.from({ length: before }, () => ({ reply: long })), ...rounds, { reply: "done" }],
  })
  const executor = new DynamicExecutor({ tools, backend, context: compactingContext({ contextTokens: 1500 }) })
  const store = conversationStore(await openDatabase(":memory:"))
  const run: GatewayAgent["run"] = (request) => executor.run(request)
  const app = createApp({ tools }, (application) => {
    gatewayRoutes(application, { backend, agents: [{ name: "helper", run }] })
    conversationRoutes(application, { store, run, modelName: () => "m" })
  })
  const post = async (path: string, body: object) => {
    const headers = { host: "localhost", "content-type": "application/json" }
    const response = await app.request(`http://localhost${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    })
    const text = await response.text()
    expect(response.ok, text).toBe(true)
    return JSON.parse(text) as Record<string, unknown>
  }
  return { backend, post }
}

/** What the model is shown in every round of the task: the task, once and whole, and in the end what was changed. */
function checkRounds(backend: ReturnType<typeof createScriptedBackend>): void {
  const asked = backend.requests.slice(-rounds.length - 1)
  for (const { messages } of asked)
    expect(messages.filter(({ role, content }) => role === "user" && content === task)).toHaveLength(1)
  const last = asked
    .at(-1)!
    .messages.map(({ content }) => content)
    .join("\n")
  expect(last).toMatch(/Summary of \d+ turns of the conversation before the task/)
  expect(last).toMatch(/Files changed so far: .*src\/file-6\.ts/)
  expect(last.length / 4).toBeLessThan(1500)
}

test("in a conversation, the current task stays whole behind a long history", async () => {
  const { backend, post } = await setUp(4)
  const { id } = await post("/conversations", {})
  const say = (content: string) => post(`/conversations/${String(id)}/chat`, { message: content })
  for (let turn = 0; turn < 4; turn++) await say(`${turn} ${long}`)
  await say(task)
  checkRounds(backend)
})

test("with a client of the gateway, the current task stays whole behind a long history", async () => {
  const { backend, post } = await setUp(0)
  const history = [1, 2, 3, 4].flatMap((turn) => [
    { role: "user", content: `${turn} ${long}` },
    { role: "assistant", content: long },
  ])
  await post("/v1/chat/completions", {
    model: "toolwright/helper",
    messages: [...history, { role: "user", content: task }],
  })
  checkRounds(backend)
})

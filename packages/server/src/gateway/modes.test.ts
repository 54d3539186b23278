import { DynamicExecutor } from "@toolwright/agents"
import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/** A gateway whose agent has a tool that leaves a mark where it ran. */
function gateway(steps: Steps, abilities = { nativeTools: true }) {
  const ran: unknown[] = []
  const tools = new ToolRegistry()
  tools.register(
    defineTool({
      name: "write",
      description: "Writes",
      parameters: { type: "object" },
      execute: (args) => {
        ran.push(args)
        return "written"
      },
    }),
  )
  const backend = createScriptedBackend({ model: "qwen2.5-7b", abilities, steps })
  const executor = new DynamicExecutor({ tools, backend })
  const agents = [{ name: "helper", run: (request: Parameters<typeof executor.run>[0]) => executor.run(request) }]
  const app = createApp({ tools }, (application) => gatewayRoutes(application, { backend, agents }))
  const ask = async (body: object, headers: Record<string, string> = {}) =>
    app.request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json", ...headers },
      body: JSON.stringify({ messages: [{ role: "user", content: "Name this chat" }], ...body }),
    })
  const models = async () => {
    const response = await app.request("http://localhost/v1/models", { headers: { host: "localhost" } })
    const { data } = (await response.json()) as { data: { id: string }[] }
    return data.map(({ id }) => id)
  }
  return { ask, models, backend, ran }
}

const CALL = { reply: { calls: [{ name: "write", arguments: { path: "a" } }] } }

describe("an agent runs where it is named, and nowhere else", () => {
  test.each([
    ["without tools", {}],
    ["with an empty list", { tools: [] }],
    ["with a list that is null", { tools: null }],
    ["with a choice of none", { tool_choice: "none" }],
  ])("a request %s goes to the model, and its call is text that nobody runs", async (_, body) => {
    const { ask, backend, ran } = gateway([{ reply: "" }])
    const asked = backend.infer.bind(backend)
    // A server that gives calls though it was told of no tool.
    backend.infer = async function* (request, options) {
      yield { type: "call-delta", index: 0, id: "c", name: "write", arguments: '{"path":"a"}' }
      yield* asked(request, options)
    }
    const response = await ask({ model: "gpt-4o", ...body })
    expect([response.status, response.headers.get("x-routing-mode")]).toEqual([200, "passthrough"])
    const { choices } = (await response.json()) as { choices: { message: object; finish_reason: string }[] }
    expect(choices[0]).toMatchObject({
      message: { content: '{"name":"write","arguments":{"path":"a"}}' },
      finish_reason: "stop",
    })
    expect(choices[0]!.message).not.toHaveProperty("tool_calls")
    expect(ran).toEqual([])
    expect(backend.requests[0]).not.toHaveProperty("tools")
  })

  test.each([
    ["its model", { model: "toolwright/helper" }, {}],
    ["a header", { model: "gpt-4o" }, { "x-toolwright-agent": "helper" }],
  ])("by %s", async (_, body, headers) => {
    const { ask, ran, models } = gateway([CALL, { reply: "Done." }])
    const response = await ask(body, headers)
    expect(response.headers.get("x-routing-mode")).toBe("agent")
    expect(await response.json()).toMatchObject({
      model: "toolwright/helper",
      choices: [{ message: { content: "Done." } }],
    })
    expect(ran).toEqual([{ path: "a" }])
    expect(await models()).toEqual(["qwen2.5-7b", "toolwright/helper"])
  })

  test("an agent that is not there, and a mode that does not fit, are errors", async () => {
    const { ask, ran } = gateway([])
    const unknown = await ask({ model: "toolwright/nobody" })
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining("toolwright/helper")])
    const unnamed = await ask({ model: "m" }, { "x-routing-mode": "agent" })
    expect([unnamed.status, await unnamed.text()]).toEqual([400, expect.stringContaining("X-Toolwright-Agent")])
    const both = await ask({ model: "toolwright/helper" }, { "x-routing-mode": "passthrough" })
    expect(both.status).toBe(400)
    expect(ran).toEqual([])
  })
})

test("an agent is given all of the conversation, pictures and sampler settings", async () => {
  const { ask, backend } = gateway([{ reply: "It is a cat. STOP and more" }])
  const picture = "data:image/png;base64,AAAA"
  const response = await ask({
    model: "toolwright/helper",
    temperature: 0.25,
    max_tokens: 77,
    stop: ["STOP"],
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: picture } },
        ],
      },
      {
        role: "assistant",
        content: "I look.",
        tool_calls: [{ id: "a", type: "function", function: { name: "look", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "a", content: "whiskers" },
      { role: "assistant", content: "Handed over by the scout." },
    ],
  })
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: "It is a cat. " } }] })
  const { messages, sampling } = backend.requests[0]!
  expect(sampling).toMatchObject({ temperature: 0.25, maxTokens: 77, stop: ["STOP"] })
  expect(messages[0]).toMatchObject({ role: "system", content: expect.stringContaining("Be brief.") })
  expect(messages.slice(1)).toMatchObject([
    { role: "user", content: "Hello" },
    { role: "assistant", content: "Hi." },
    { role: "user", content: "What is this?", media: [{ type: "image", mimeType: "image/png", base64: "AAAA" }] },
    { role: "assistant", content: "I look.", toolCalls: [{ id: "a", name: "look" }] },
    { role: "tool", content: "whiskers", name: "look" },
    { role: "assistant", content: "Handed over by the scout." },
  ])
})

test("an agent answers in the form that a client wants, and tells nothing that came before", async () => {
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
  const { ask } = gateway([CALL, { reply: "It is Bern." }, { reply: '{"city": "Bern"}' }])
  const response_format = { type: "json_schema", json_schema: { name: "place", schema } }
  const response = await ask({ model: "toolwright/helper", response_format })
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: '{"city":"Bern"}' } }] })
})

test("what an agent cannot take of a request is named", async () => {
  const { ask } = gateway([{ reply: '{"done": true}' }])
  const response = await ask({
    model: "toolwright/helper",
    tools: [{ type: "function", function: { name: "mine", parameters: { type: "object" } } }],
    response_format: { type: "json_object" },
    reasoning_effort: "low",
  })
  expect(response.headers.get("x-toolwright-left-out")).toBe("tools, reasoning_effort")
})

import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAI } from "@ai-sdk/openai"
import Anthropic from "@anthropic-ai/sdk"
import { createScriptedBackend } from "@toolwright/backends"
import { ToolRegistry, ToolwrightError } from "@toolwright/toolbox"
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai-7"
import OpenAI from "openai"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "@toolwright/server"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/** A model that writes text, cut every three characters, behind the gateway. */
async function serve(steps: Steps, model = "qwen2.5-7b") {
  const backend = createScriptedBackend({ model, abilities: { nativeTools: false }, chunks: 3, steps })
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const server = await listen(app, { port: 0, secured: false })
  onTestFinished(() => server.close())
  const anthropic = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 })
  const openai = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "none", maxRetries: 0 })
  return { backend, anthropic, openai, url: server.url }
}

const parameters = {
  type: "object" as const,
  properties: { city: { type: "string" }, days: { type: "integer" } },
  required: ["city"],
}
const HERMES =
  '<think>Where?</think>I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich </tool_call> ' +
  '{", "days": "2"}}\n</tool_call>'
const QWEN3 =
  "I look.\n<tool_call>\n<function=get_weather>\n<parameter=city>\nZürich </tool_call> {\n</parameter>\n" +
  "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>"
const ARGUMENTS = { city: "Zürich </tool_call> {", days: 2 }
const CUT = HERMES.slice(0, -40)

const MODELS: [string, string][] = [
  ["qwen2.5-7b", HERMES],
  ["qwen3-coder-30b", QWEN3],
]

describe("Anthropic's client", () => {
  const tools = [{ name: "get_weather", description: "The weather", input_schema: parameters }]
  const ask = { model: "any", max_tokens: 500, tools }
  const user = { role: "user" as const, content: "Weather?" }

  test.each(MODELS)("a turn with a tool, whole and streamed, with %s", async (model, text) => {
    const { anthropic, backend } = await serve(
      [
        { expect: { system: "get_weather" }, reply: text },
        { expect: { last: "sunny" }, reply: "Sunny." },
        { reply: text },
      ],
      model,
    )
    const first = await anthropic.messages.create({ ...ask, messages: [user], system: "Be brief." })
    expect(first).toMatchObject({ type: "message", role: "assistant", stop_reason: "tool_use" })
    const call = first.content.find((block) => block.type === "tool_use")!
    expect(call).toMatchObject({ name: "get_weather", input: ARGUMENTS })
    expect(first.content[0]).toMatchObject({ type: "text", text: expect.stringMatching(/^I look\.\s*$/) })
    const result = {
      type: "tool_result" as const,
      tool_use_id: call.id,
      content: [{ type: "text" as const, text: "sunny" }],
    }
    const second = await anthropic.messages.create({
      ...ask,
      messages: [user, { role: "assistant", content: first.content }, { role: "user", content: [result] }],
    })
    expect(second).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "Sunny." }] })
    expect(backend.requests[0]?.messages[0]?.content).toContain("Be brief.")
    const final = await anthropic.messages.stream({ ...ask, messages: [user] }).finalMessage()
    expect(final.stop_reason).toBe("tool_use")
    expect(final.content.find((block) => block.type === "tool_use")).toMatchObject({ input: ARGUMENTS })
    expect(final.usage.input_tokens).toBeGreaterThan(0)
  })

  test("thoughts where they are asked for, and what is cut off as text", async () => {
    const { anthropic } = await serve([{ reply: HERMES }, { reply: { text: CUT, finish: "length" } }] as Steps)
    const thinking = { type: "enabled" as const, budget_tokens: 1024 }
    const { data, response } = await anthropic.messages
      .create({ ...ask, max_tokens: 2000, thinking, messages: [user] })
      .withResponse()
    expect(data.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"])
    expect(response.headers.get("x-toolwright-left-out")).toBe("thinking.budget_tokens")
    const cut = await anthropic.messages.stream({ ...ask, messages: [user] }).finalMessage()
    expect(cut.stop_reason).toBe("max_tokens")
    expect(cut.content.map(({ type }) => type)).toEqual(["text"])
    expect(JSON.stringify(cut.content).split("Zürich")).toHaveLength(2)
  })

  test("tokens are counted, pictures passed on, and errors come in its own form", async () => {
    const { anthropic, backend } = await serve([{ reply: "A cat." }])
    const count = await anthropic.messages.countTokens({ model: "any", messages: [user], tools })
    expect(count.input_tokens).toBeGreaterThan(10)
    const source = { type: "base64" as const, media_type: "image/png" as const, data: "AAAA" }
    await anthropic.messages.create({
      ...ask,
      messages: [
        {
          role: "user",
          content: [
            { type: "image", source },
            { type: "text", text: "What?" },
          ],
        },
      ],
    })
    expect(backend.requests[0]?.messages.at(-1)).toMatchObject({ media: [{ mimeType: "image/png", base64: "AAAA" }] })
    const pdf = { type: "base64" as const, media_type: "application/pdf" as const, data: "AAAA" }
    await expect(
      anthropic.messages.create({ ...ask, messages: [{ role: "user", content: [{ type: "document", source: pdf }] }] }),
    ).rejects.toMatchObject({ status: 400, error: { type: "error", error: { type: "invalid_request_error" } } })
  })

  test("deferred tools are told once a search has named them, after all others", async () => {
    const search = { name: "ToolSearch", description: "Finds tools", input_schema: { type: "object" as const } }
    const late = (name: string) => ({ ...search, name, description: `Does ${name}`, defer_loading: true })
    const offered = [late("create_task"), search, late("placeholder"), tools[0]!] as typeof tools
    const fetched = [{ type: "tool_reference", tool_name: "create_task" }] as never
    const reply = '<tool_call>\n{"name": "create_task", "arguments": {}}\n</tool_call>'
    const { anthropic, backend } = await serve([{ reply: "I search." }, { reply }])
    const system = [
      { type: "text" as const, text: "x-anthropic-billing-header: cc_version=1;" },
      { type: "text" as const, text: "Be brief." },
    ]
    const asking = { ...ask, system, tools: offered }
    const { response } = await anthropic.messages.create({ ...asking, messages: [user] }).withResponse()
    expect(response.headers.get("x-toolwright-left-out")).toBe("system.billing")
    const calling = {
      role: "assistant" as const,
      content: [{ type: "tool_use" as const, id: "t1", name: "ToolSearch", input: {} }],
    }
    const found = {
      role: "user" as const,
      content: [{ type: "tool_result" as const, tool_use_id: "t1", content: fetched }],
    }
    const answer = await anthropic.messages.create({ ...asking, messages: [user, calling, found] })
    expect(answer.content).toMatchObject([{ type: "tool_use", name: "create_task" }])
    const [before, after] = backend.requests.map(({ messages }) => messages[0]!.content)
    expect(before).toMatch(/^Be brief\./)
    for (const name of ["create_task", "placeholder"]) expect(before).not.toContain(name)
    expect(after).not.toContain("placeholder")
    expect(after!.indexOf("create_task")).toBeGreaterThan(after!.indexOf("get_weather"))
  })

  test("the AI SDK runs its tool loop over it", async () => {
    const { url } = await serve([{ reply: HERMES }, { expect: { last: "sunny" }, reply: "Sunny." }])
    const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: "none" })("any")
    expect(await loop(model, false)).toEqual(["Sunny.", [ARGUMENTS]])
  })
})

describe("OpenAI's client, Responses", () => {
  const tools = [
    { type: "function" as const, name: "get_weather", description: "The weather", parameters, strict: false },
  ]

  test.each(MODELS)("a turn with a tool, whole and streamed, with %s", async (model, text) => {
    const { openai } = await serve(
      [{ reply: text }, { expect: { last: "sunny" }, reply: "Sunny." }, { reply: text }, { reply: "Still." }],
      model,
    )
    const ask = { model: "any", tools, instructions: "Be brief." }
    const first = await openai.responses.create({ ...ask, input: "Weather?" })
    const call = first.output.find((item) => item.type === "function_call")!
    expect([first.status, call.name, JSON.parse(call.arguments)]).toEqual(["completed", "get_weather", ARGUMENTS])
    const output = { type: "function_call_output" as const, call_id: call.call_id, output: "sunny" }
    const second = await openai.responses.create({ ...ask, input: [output], previous_response_id: first.id })
    expect(second.output_text).toBe("Sunny.")
    const final = await openai.responses.stream({ ...ask, input: "Weather?" }).finalResponse()
    expect(final.output.at(-1)).toMatchObject({ type: "function_call", name: "get_weather" })
    expect(JSON.parse((final.output.at(-1) as { arguments: string }).arguments)).toEqual(ARGUMENTS)
    await expect(
      openai.responses.create({ ...ask, input: "And?", previous_response_id: "resp_unknown" }),
    ).rejects.toMatchObject({ status: 400, param: "previous_response_id" })
  })

  test("what is cut off is incomplete, and text once", async () => {
    const { openai } = await serve([{ reply: { text: CUT, finish: "length" } }] as Steps)
    const response = await openai.responses.stream({ model: "any", tools, input: "Weather?" }).finalResponse()
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } })
    expect(response.output.some(({ type }) => type === "function_call")).toBe(false)
    expect(response.output_text.split("Zürich")).toHaveLength(2)
  })

  test("a tool that takes one text is given one, as Codex wants its patches", async () => {
    const reply = '<tool_call>\n{"name": "apply_patch", "arguments": {"input": "*** Begin\\n+a"}}\n</tool_call>'
    const { openai } = await serve([{ reply }])
    const custom = [{ type: "custom" as const, name: "apply_patch", description: "Patches" }]
    const { output } = await openai.responses.create({ model: "any", input: "Patch", tools: custom })
    expect(output[0]).toMatchObject({ type: "custom_tool_call", name: "apply_patch", input: "*** Begin\n+a" })
  })

  test("a tool of a namespace is called in it, as Codex keeps its agents and MCP servers", async () => {
    const inner = {
      type: "function",
      name: "send",
      description: "Sends",
      parameters: { type: "object" },
      strict: false,
    }
    const spaces = ["mail", "chat"].map((name) => ({ type: "namespace", name, description: name, tools: [inner] }))
    const write = (name: string) => `<tool_call>\n{"name": "${name}", "arguments": {}}\n</tool_call>`
    const { openai, backend } = await serve([{ reply: write("send") }, { reply: write("chat__send") }])
    const ask = { model: "any", tools: spaces as never }
    const first = await openai.responses.create({ ...ask, input: "Send" })
    expect(first.output[0]).toMatchObject({ type: "function_call", name: "send", namespace: "mail" })
    const past = { type: "function_call", call_id: "c1", name: "send", namespace: "chat", arguments: "{}" } as const
    const done = { type: "function_call_output", call_id: "c1", output: "sent" } as const
    const second = await openai.responses.stream({ ...ask, input: [past, done] }).finalResponse()
    expect(second.output[0]).toMatchObject({ type: "function_call", name: "send", namespace: "chat" })
    expect(JSON.stringify(backend.requests[1]!.messages.slice(1))).toContain("chat__send")
  })

  test.each([false, true])("the AI SDK runs its tool loop over its default (streamed: %s)", async (streamed) => {
    const { url } = await serve([{ reply: HERMES }, { expect: { last: "sunny" }, reply: "Sunny." }])
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: "none" })("any")
    expect(await loop(model, streamed)).toEqual(["Sunny.", [ARGUMENTS]])
  })
})

async function loop(model: Parameters<typeof generateText>[0]["model"], streamed: boolean) {
  const asked: unknown[] = []
  const execute = async (args: { city: string }) => {
    asked.push(args)
    return "sunny"
  }
  const tools = { get_weather: tool({ inputSchema: jsonSchema<{ city: string }>(parameters as never), execute }) }
  const settings = { model, prompt: "Weather?", tools, stopWhen: stepCountIs(3), maxRetries: 0 }
  const text = streamed ? await streamText(settings).text : (await generateText(settings)).text
  return [text, asked]
}

test.each([
  ["/v1/chat/completions", { error: { type: "rate_limit_error", code: "MODEL_RATE_LIMITED" } }],
  ["/v1/responses", { error: { type: "rate_limit_error" } }],
  ["/v1/messages", { type: "error", error: { type: "rate_limit_error" } }],
])("a busy server is told as 429 with its Retry-After at %s", async (path, body) => {
  const { backend, url } = await serve([])
  backend.infer = async function* () {
    yield { type: "retry", attempt: 1, delayMs: 7000, reason: "HTTP 429", code: "MODEL_RATE_LIMITED" }
    throw new ToolwrightError("MODEL_SERVER_ERROR", "It was asked again.")
  }
  const response = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", max_tokens: 5, input: "x", messages: [{ role: "user", content: "x" }] }),
  })
  expect([response.status, response.headers.get("retry-after")]).toEqual([429, "7"])
  expect(await response.json()).toMatchObject(body)
})

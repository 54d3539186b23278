import { createOpenAICompatibleBackend, createScriptedBackend, serveBackend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes, type GatewayOptions } from "../index.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

interface Answer {
  status: number
  headers: Headers
  message: { content: string | null; tool_calls?: { function: { name: string; arguments: string } }[] }
  finish: string
  notes: string[]
  error: { param?: string; message: string }
}

function askerOf(backend: GatewayOptions["backend"]) {
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  return async (body: object, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await app.request("http://localhost/v1/chat/completions", {
      method: "POST",
      headers: { host: "localhost", "content-type": "application/json", ...headers },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Weather?" }], ...body }),
    })
    const { choices, toolwright, error } = JSON.parse(await response.text())
    const notes = (toolwright?.notes ?? []).map(({ code }: { code: string }) => code)
    return {
      status: response.status,
      headers: response.headers,
      message: choices?.[0].message,
      finish: choices?.[0].finish_reason,
      notes,
      error,
    }
  }
}

function gateway(steps: Steps, abilities: object = { nativeTools: false, jsonSchema: false, grammar: false }) {
  const backend = createScriptedBackend({ model: "qwen2.5-7b", abilities, steps })
  return { ask: askerOf(backend), backend }
}

const tool = (name: string) => ({
  type: "function",
  function: {
    name,
    description: "Looks",
    parameters: { type: "object", properties: { days: { type: "integer" } }, required: ["days"] },
  },
})
const tools = [tool("get_weather"), tool("get_news")]
const call = (name: string, args: object) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`

describe("tool_choice and parallel_tool_calls", () => {
  test("none: the model is told of no tool, and what it writes is text", async () => {
    const { ask, backend } = gateway([{ reply: call("get_weather", { days: 1 }) }])
    const { message, finish } = await ask({ tools, tool_choice: "none" })
    expect([message.tool_calls, finish]).toEqual([undefined, "stop"])
    expect(message.content).toContain("get_weather")
    expect(JSON.stringify(backend.requests[0])).not.toContain("get_news")
  })

  test("required: told, looked at, and asked for once more", async () => {
    const { ask, backend } = gateway([{ reply: "Certainly." }, { reply: call("get_news", { days: 1 }) }])
    const { message, notes } = await ask({ tools, tool_choice: "required" })
    expect(message.tool_calls).toMatchObject([{ function: { name: "get_news" } }])
    expect(message.content).toBeNull()
    expect(notes).toEqual(["asked-again"])
    expect(backend.requests[0]?.messages.at(-1)?.content).toContain("Answer with a tool call.")
  })

  test("one function, and allowed ones: the others are not there", async () => {
    const steps = [{ reply: call("get_news", { days: 1 }) }, { reply: call("get_news", { days: 1 }) }]
    const { ask, backend } = gateway(steps)
    await ask({ tools, tool_choice: { type: "function", function: { name: "get_news" } } })
    const allowed = { mode: "auto", tools: [{ type: "function", function: { name: "get_weather" } }] }
    const { message, notes } = await ask({ tools, tool_choice: { type: "allowed_tools", allowed_tools: allowed } })
    expect(JSON.stringify(backend.requests[0]?.messages)).not.toContain("get_weather")
    expect([message.tool_calls, notes]).toEqual([undefined, ["unknown-tool"]])
    const unknown = await ask({ tools, tool_choice: { type: "function", function: { name: "nothing" } } })
    expect([unknown.status, unknown.error.param]).toEqual([400, "tool_choice"])
  })

  test("one call at a time: the next ones are told of in a note", async () => {
    const { ask } = gateway([{ reply: call("get_news", { days: 1 }) + "\n" + call("get_weather", { days: 2 }) }])
    const { message, notes } = await ask({ tools, parallel_tool_calls: false })
    expect(message.tool_calls).toHaveLength(1)
    expect(notes).toEqual(["extra-call"])
  })
})

describe("calls are held against the client's tools", () => {
  test.each([
    ["text for a number", call("get_weather", { days: "2" }), "get_weather", { days: 2 }, ["repaired-arguments"]],
    ["another spelling", call("Get-Weather", { days: 2 }), "get_weather", { days: 2 }, ["renamed-tool"]],
    [
      "what fits in no way",
      call("get_weather", { days: "two" }),
      "get_weather",
      { days: "two" },
      ["invalid-arguments"],
    ],
  ])("%s", async (_, reply, name, args, told) => {
    const { ask } = gateway([{ reply }])
    const { message, notes } = await ask({ tools })
    expect(message.tool_calls).toMatchObject([{ function: { name } }])
    expect([JSON.parse(message.tool_calls![0]!.function.arguments), notes]).toEqual([args, told])
  })

  test("a tool that the client did not offer is text", async () => {
    const { ask } = gateway([{ reply: call("rm", { path: "/" }) }])
    const { message, finish, notes } = await ask({ tools })
    expect([message.content, message.tool_calls, finish, notes]).toEqual([
      '{"name":"rm","arguments":{"path":"/"}}',
      undefined,
      "stop",
      ["unknown-tool"],
    ])
  })

  test("with a repair round the model is asked once more, with what was wrong", async () => {
    const broken = '<tool_call>\n{"name": "get_weather", "arguments": {"days": \n</tool_call>'
    const { ask, backend } = gateway([{ reply: `I look. ${broken}` }, { reply: call("get_weather", { days: 3 }) }])
    const { message, notes } = await ask({ tools }, { "x-toolwright-repair": "1" })
    expect(message.tool_calls).toMatchObject([{ function: { arguments: '{"days":3}' } }])
    expect([message.content?.trim(), notes]).toEqual(["I look.", ["asked-again"]])
    expect(backend.requests[1]?.messages.at(-1)?.content).toContain("put this right")
  })
})

describe("response_format", () => {
  const schema = { type: "object", properties: { answer: { type: "integer" } }, required: ["answer"] }
  const format = { type: "json_schema", json_schema: { name: "reply", schema } }

  test("beside tools: the model is told, and the answer looked at", async () => {
    const { ask, backend } = gateway([{ reply: '{"answer": 3}' }, { reply: "Three." }])
    expect((await ask({ tools, response_format: format })).notes).toEqual([])
    expect(backend.requests[0]?.messages[0]?.content).toContain('"answer"')
    expect((await ask({ tools, response_format: format })).notes).toEqual(["schema-mismatch"])
  })

  test("alone: the server holds it where it can, words do elsewhere", async () => {
    const able = gateway([{ reply: '{"answer": 3}' }], { nativeTools: true, jsonSchema: true })
    await able.ask({ response_format: format })
    expect(able.backend.requests[0]?.jsonSchema).toEqual(schema)
    const unable = gateway([{ reply: '{"answer": 3}' }])
    await unable.ask({ response_format: format })
    expect(unable.backend.requests[0]?.messages[0]?.content).toContain('"answer"')
  })
})

describe("nothing is left out in silence", () => {
  test("what the model's server may know is sent to it, and what its dialect has no word for is named", async () => {
    const scripted = createScriptedBackend({ model: "m", steps: [{ reply: "Hi." }] })
    const served = await serveBackend(scripted)
    onTestFinished(() => served.close())
    const bodies: Record<string, unknown>[] = []
    const fetcher: typeof fetch = (url, init) => {
      bodies.push(JSON.parse(String(init?.body)))
      return fetch(url, init)
    }
    const backend = createOpenAICompatibleBackend({ baseUrl: served.baseUrl, modelName: "m", fetch: fetcher })
    const extra = { reasoning_effort: "low", chat_template_kwargs: { enable_thinking: false }, user: "u" }
    const url = "https://example.org/a.png"
    const { headers } = await askerOf(backend)({
      ...extra,
      top_k: 5,
      logprobs: true,
      logit_bias: { 1: -100 },
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
    })
    expect(bodies[0]).toMatchObject({ ...extra, logit_bias: { 1: -100 } })
    expect(JSON.stringify(bodies[0]?.messages)).toContain(url)
    expect(headers.get("x-toolwright-left-out")).toBe("logprobs, top_k")
  })

  test.each([
    ["n", { n: 2 }],
    ["modalities", { modalities: ["text", "audio"] }],
    ["messages[0].content[0]", { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "a" } }] }] }],
    ["functions", { functions: [{ name: "f" }] }],
  ])("%s is an error", async (param, body) => {
    const { status, error } = await gateway([]).ask(body)
    expect([status, error.param]).toEqual([400, param])
  })
})

test("pages may send what the clients of OpenAI and Anthropic send", async () => {
  const app = createApp({ tools: new ToolRegistry(), allowedOrigins: ["https://page.example"] })
  const headers = { host: "localhost", origin: "https://page.example" }
  const response = await app.request("http://localhost/v1/messages", { method: "OPTIONS", headers })
  const allowed = response.headers.get("access-control-allow-headers")!.split(", ")
  for (const name of ["mcp-method", "x-stainless-lang", "x-stainless-retry-count", "x-routing-mode", "x-api-key"])
    expect(allowed).toContain(name)
})

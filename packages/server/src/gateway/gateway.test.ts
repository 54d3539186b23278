import { createScriptedBackend, type ScriptedBackend } from "@toolwright/backends"
import { DynamicExecutor } from "@toolwright/agents"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, test, vi } from "vitest"
import { createApp, gatewayRoutes, listen } from "../index.ts"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

const seen: { signal?: AbortSignal } = {}
const registry = new ToolRegistry()
registry.register(
  defineTool({
    name: "search_users",
    description: "Finds users",
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    execute: () => [{ name: "Jöhn Doe", company: "Acme Corp" }],
  }),
)
registry.register(
  defineTool({
    name: "web_search",
    description: "Searches the web",
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    execute: () => "Acme Corp makes anvils.",
  }),
)
registry.register(
  defineTool({
    name: "hang",
    description: "",
    parameters: { type: "object" },
    execute: (_args, { signal }) => {
      seen.signal = signal
      return new Promise(() => {})
    },
  }),
)

async function serve(
  steps: Steps,
  abilities = { nativeTools: false },
  options: { agent?: boolean; maxRounds?: number } = {},
) {
  const backend: ScriptedBackend = createScriptedBackend({ model: "qwen2.5-7b", abilities, chunks: 3, steps })
  const executor = new DynamicExecutor({ tools: registry, backend, maxRounds: options.maxRounds ?? 20 })
  const app = createApp({ tools: registry }, (application) =>
    gatewayRoutes(application, {
      backend,
      ...(options.agent === true ? { agents: [{ name: "helper", run: (request) => executor.run(request) }] } : {}),
    }),
  )
  const server = await listen(app, { port: 0, secured: false })
  return { server, backend, baseURL: `${server.url}/v1` }
}

const weather = {
  type: "function" as const,
  function: {
    name: "get_weather",
    description: "The weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" } },
      required: ["city"],
    },
  },
}
const callText =
  '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich </tool_call> {", "days": 2}}\n</tool_call>'
const twoSteps: Steps = [
  { expect: { tools: false, system: "get_weather" }, reply: `Let me look.\n${callText}` },
  { expect: { last: "sunny" }, reply: "Sunny in Zürich." },
]

interface Completion {
  choices: {
    finish_reason: string
    message: {
      content: string | null
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[]
    }
  }[]
}

/** A request as any client sends it; what real ones make of the answers is tried in `.ci/clients`. */
const post = (baseURL: string, body: object): Promise<Response> =>
  fetch(`${baseURL}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "any", ...body }),
  })

const chat = async (baseURL: string, body: object): Promise<Completion> =>
  (await (await post(baseURL, body)).json()) as Completion

describe("a client that brings its tools gets calls from a model that only writes text", () => {
  test("asked whole: the call, then the answer to its result", async () => {
    const { server, baseURL } = await serve(twoSteps)
    await using _server = server
    const ask = [{ role: "user", content: "Weather?" }]
    const whole = await chat(baseURL, { messages: ask, tools: [weather] })
    const [call] = whole.choices[0]!.message.tool_calls!
    expect(whole.choices[0]?.finish_reason).toBe("tool_calls")
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } })
    expect(JSON.parse(call!.function.arguments)).toEqual({ city: "Zürich </tool_call> {", days: 2 })
    const answer = await chat(baseURL, {
      tools: [weather],
      messages: [...ask, whole.choices[0]!.message, { role: "tool", tool_call_id: call!.id, content: "sunny" }],
    })
    expect(answer.choices[0]?.message.content).toBe("Sunny in Zürich.")
  })

  test("a backend with tool use of its own is used as it is", async () => {
    const { server, baseURL, backend } = await serve(
      [
        {
          expect: { tools: { exactly: ["get_weather"] } },
          reply: { calls: [{ name: "get_weather", arguments: { city: "Rome" } }] },
        },
      ],
      { nativeTools: true },
    )
    await using _server = server
    const { choices } = await chat(baseURL, {
      messages: [{ role: "user", content: "?" }],
      tools: [weather],
    })
    expect(choices[0]?.message.tool_calls).toHaveLength(1)
    expect(backend.requests[0]?.tools).toHaveLength(1)
  })
})

describe("a client that names an agent gets the server's own tools", () => {
  const steps: Steps = [
    {
      reply: {
        stream: [
          { text: "I look. " },
          { call: 0, id: "c1", name: "search_users", arguments: '{"query": "Jö' },
          { call: 0, arguments: 'hn"}' },
        ],
      },
    },
    { expect: { result: "Acme Corp" }, reply: { calls: [{ name: "web_search", arguments: { query: "Acme Corp" } }] } },
    { expect: { result: "anvils" }, reply: "John works at Acme, which makes anvils." },
  ]

  test("as one message", async () => {
    const { server, baseURL } = await serve(steps, { nativeTools: true }, { agent: true })
    await using _server = server
    const { choices } = await chat(baseURL, {
      model: "toolwright/helper",
      messages: [{ role: "user", content: "Find user John Doe and tell me about his company" }],
    })
    expect(choices[0]?.message.content).toBe("I look. John works at Acme, which makes anvils.")
  })

  test("as a stream: text in order, steps beside it, no call in the text, one [DONE]", async () => {
    const { server, baseURL } = await serve(steps, { nativeTools: true }, { agent: true })
    await using _server = server
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        model: "toolwright/helper",
        stream: true,
        messages: [{ role: "user", content: "Find user John Doe" }],
      }),
    })
    expect(response.headers.get("x-routing-mode")).toBe("agent")
    const data = (await response.text())
      .split("\n")
      .filter((line) => line.startsWith("data: "))
      .map((line) => line.slice(6))
    expect(data.filter((line) => line === "[DONE]")).toHaveLength(1)
    expect(data.at(-1)).toBe("[DONE]")
    const deltas = data.slice(0, -1).map(
      (line) =>
        (
          JSON.parse(line) as {
            choices: {
              delta: { content?: string; reasoning_event?: { type: string; metadata: { tool?: string } } }
            }[]
          }
        ).choices[0]!.delta,
    )
    expect(deltas.map(({ content }) => content ?? "").join("")).toBe("I look. John works at Acme, which makes anvils.")
    const events = deltas.flatMap(({ reasoning_event: event }) => (event === undefined ? [] : [event.type]))
    expect(events.slice(0, 5)).toEqual([
      "iteration_start",
      "planning",
      "tool_execution_start",
      "tool_result",
      "iteration_complete",
    ])
    const planned = deltas.find(({ reasoning_event: event }) => event?.type === "planning")!.reasoning_event!
    expect(planned.metadata).toEqual({ calls: [{ tool: "search_users", call_id: expect.any(String) }] })
    expect(events.at(-1)).toBe("reasoning_complete")
  })

  test("a model that always calls is stopped with a sentence", async () => {
    const { server, baseURL } = await serve(
      [
        {
          reply: { calls: [{ name: "search_users", arguments: { query: "{{n}}" } }], interpolate: false },
          repeat: "always",
        },
      ],
      { nativeTools: true },
      { agent: true, maxRounds: 2 },
    )
    await using _server = server
    const { choices } = await chat(baseURL, {
      model: "toolwright/helper",
      messages: [{ role: "user", content: "x" }],
    })
    expect(choices[0]?.message.content).toBe("Sorry, this query requires too many steps.")
  })

  test("a client that goes away cancels the tool", async () => {
    const { server, baseURL } = await serve(
      [{ reply: { calls: [{ name: "hang", arguments: {} }] } }],
      { nativeTools: true },
      { agent: true },
    )
    await using _server = server
    const controller = new AbortController()
    const running = fetch(`${baseURL}/chat/completions`, {
      method: "POST",
      signal: controller.signal,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "toolwright/helper", stream: true, messages: [{ role: "user", content: "x" }] }),
    }).then((response) => response.text())
    await vi.waitFor(() => expect(seen.signal).toBeDefined())
    controller.abort()
    await expect(running).rejects.toMatchObject({ name: "AbortError" })
    await vi.waitFor(() => expect(seen.signal?.aborted).toBe(true))
  })
})

describe("what is wrong is said in the API's own form", () => {
  test.each([
    [{}, 400, "messages"],
    [{ messages: [] }, 400, "messages"],
    [{ messages: [{ content: "no role" }] }, 400, "messages"],
    [{ messages: [{ role: "user", content: "x" }], tools: [{ name: "x" }] }, 400, "tools"],
    [{ messages: [{ role: "user", content: "x" }], tools: 5 }, 400, "tools"],
  ])("%j", async (body, status, param) => {
    const { server, baseURL } = await serve([])
    await using _server = server
    const response = await fetch(`${baseURL}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    })
    expect([response.status, ((await response.json()) as { error: { param: string } }).error.param]).toEqual([
      status,
      param,
    ])
  })

  test("a model that cannot be reached is 502, before and not inside the stream", async () => {
    const { server, baseURL } = await serve([{ reply: { error: { kind: "unreachable" } } }])
    await using _server = server
    const response = await post(baseURL, { stream: true, messages: [{ role: "user", content: "x" }] })
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ error: { code: "MODEL_UNREACHABLE" } })
  })

  test("models are listed", async () => {
    const { server, baseURL } = await serve([])
    await using _server = server
    const { data } = (await (await fetch(`${baseURL}/models`)).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(["qwen2.5-7b"])
  })
})

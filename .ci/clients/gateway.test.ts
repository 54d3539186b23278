import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { ChatOpenAI } from "@langchain/openai"
import { createScriptedBackend } from "@toolwright/backends"
import { createApp, gatewayRoutes, listen } from "@toolwright/server"
import { ToolRegistry } from "@toolwright/toolbox"
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai-7"
import OpenAI from "openai"
import { describe, expect, test, vi } from "vitest"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]

/** A model that writes text, cut every three characters, behind the gateway. */
async function serve(steps: Steps) {
  const backend = createScriptedBackend({ model: "qwen2.5-7b", abilities: { nativeTools: false }, chunks: 3, steps })
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const server = await listen(app, { port: 0, secured: false })
  return { server, baseURL: `${server.url}/v1` }
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

describe("a client that brings its tools gets calls from a model that only writes text", () => {
  test("the openai client, whole and streamed", async () => {
    const { server, baseURL } = await serve([...twoSteps, ...twoSteps])
    await using _server = server
    const client = new OpenAI({ baseURL, apiKey: "none" })
    const ask = [{ role: "user" as const, content: "Weather?" }]
    const whole = await client.chat.completions.create({ model: "any", messages: ask, tools: [weather] })
    const [call] = whole.choices[0]!.message.tool_calls!
    expect(whole.choices[0]?.finish_reason).toBe("tool_calls")
    expect(call).toMatchObject({ type: "function", function: { name: "get_weather" } })
    expect(call?.type === "function" && JSON.parse(call.function.arguments)).toEqual({
      city: "Zürich </tool_call> {",
      days: 2,
    })
    const answer = await client.chat.completions.create({
      model: "any",
      tools: [weather],
      messages: [...ask, whole.choices[0]!.message, { role: "tool", tool_call_id: call!.id, content: "sunny" }],
    })
    expect(answer.choices[0]?.message.content).toBe("Sunny in Zürich.")

    const stream = client.chat.completions.stream({ model: "any", messages: ask, tools: [weather] })
    const final = await stream.finalChatCompletion()
    expect(final.choices[0]?.message.content?.trim()).toBe("Let me look.")
    expect(final.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { arguments: expect.stringContaining("Zürich") },
    })
  })

  test("the AI SDK runs its own tool loop over it", async () => {
    const { server, baseURL } = await serve([...twoSteps, ...twoSteps])
    await using _server = server
    const model = createOpenAICompatible({ name: "toolwright", baseURL })("any")
    const execute = vi.fn(async () => "sunny")
    const tools = {
      get_weather: tool({
        description: "The weather",
        inputSchema: jsonSchema<{ city: string }>(weather.function.parameters as never),
        execute,
      }),
    }
    const { text } = await generateText({ model, prompt: "Weather?", tools, stopWhen: stepCountIs(3) })
    expect(text).toBe("Sunny in Zürich.")
    expect(execute).toHaveBeenCalledWith({ city: "Zürich </tool_call> {", days: 2 }, expect.anything())
    let streamed = ""
    for await (const part of streamText({ model, prompt: "Weather?", tools, stopWhen: stepCountIs(3) }).textStream)
      streamed += part
    expect(streamed).toMatch(/Sunny in Zürich\.$/)
  })

  test("LangChain's client", async () => {
    const { server, baseURL } = await serve(twoSteps)
    await using _server = server
    const model = new ChatOpenAI({ model: "any", apiKey: "none", configuration: { baseURL } }).bindTools([weather])
    const reply = await model.invoke("Weather?")
    expect(reply.tool_calls).toMatchObject([{ name: "get_weather", args: { city: "Zürich </tool_call> {", days: 2 } }])
  })
})

test("the openai client is told that a model cannot be reached, and lists the models", async () => {
  const { server, baseURL } = await serve([{ reply: { error: { kind: "unreachable" } } }])
  await using _server = server
  const client = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 })
  await expect(
    client.chat.completions.create({ model: "any", stream: true, messages: [{ role: "user", content: "x" }] }),
  ).rejects.toMatchObject({ status: 502, code: "MODEL_UNREACHABLE" })
  const { data } = await client.models.list()
  expect(data.map(({ id }) => id)).toEqual(["qwen2.5-7b"])
})

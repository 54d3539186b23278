import { grammar } from "@toolwright/logits"
import { textParameters } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { createOpenAICompatibleBackend, createResponsesBackend } from "./index.ts"
import { collectEvents } from "./testing/collect-events.ts"
import { event, startServer, stream } from "./testing/raw-server.ts"

const tool = (name: string, parameters: object): OpenAITool => ({
  type: "function",
  function: { name, description: "D", parameters: parameters as never },
})
const tools = [
  tool("patch", textParameters(grammar.gbnf('root ::= "a"+'))),
  tool("say", textParameters(grammar.text)),
  tool("search", { type: "object" }),
]
const format = { syntax: "lark", definition: 'start: "a"+\n' }
const messages: ChatMessage[] = [
  { role: "user", content: "Go" },
  {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "c1", name: "patch", arguments: { input: "aa\n" } },
      { id: "c2", name: "search", arguments: { q: 1 } },
    ],
  },
  { role: "tool", callId: "c1", name: "patch", content: "done", success: true },
  { role: "tool", callId: "c2", name: "search", content: "found", success: true },
]
const called = [
  { type: "call-delta", index: 0, id: "c3", name: "patch" },
  { type: "call-delta", index: 0, arguments: expect.any(String) },
]

describe("the Responses API", () => {
  const answer = (response: Parameters<typeof stream>[0]) => {
    const item = { type: "custom_tool_call", call_id: "c3", name: "patch", input: "aaa" }
    const body = { type: "response.completed", response: { status: "completed" } }
    const done = { type: "response.output_item.done", output_index: 0, item }
    return stream(response, [`data: ${JSON.stringify(done)}\n\n`, `data: ${JSON.stringify(body)}\n\n`])
  }

  test("is sent custom tools with a grammar that it takes, and calls and results as their items", async () => {
    const { baseUrl, requests } = await startServer(answer)
    const backend = createResponsesBackend({ modelName: "m", baseUrl, customTools: true })
    const events = await collectEvents(backend.infer({ messages, tools }))
    expect(requests[0]!.body).toMatchObject({
      tools: [
        { type: "custom", name: "patch", description: "D", format: { type: "grammar", ...format } },
        { type: "custom", name: "say", description: "D" },
        { type: "function", name: "search" },
      ],
      input: [
        { role: "user" },
        { type: "custom_tool_call", call_id: "c1", name: "patch", input: "aa\n" },
        { type: "function_call", call_id: "c2", arguments: '{"q":1}' },
        { type: "custom_tool_call_output", call_id: "c1", output: "done" },
        { type: "function_call_output", call_id: "c2" },
      ],
    })
    expect(events.slice(0, 2)).toEqual(called)
    expect(JSON.parse(textOf(events))).toEqual({ input: "aaa" })
  })

  test("of another server is sent functions of one text, unless it is said to take custom tools", async () => {
    const { baseUrl, requests } = await startServer(answer)
    await collectEvents(createResponsesBackend({ modelName: "m", baseUrl }).infer({ messages, tools }))
    expect(requests[0]!.body).toMatchObject({
      tools: [{ type: "function", name: "patch", parameters: { required: ["input"] } }, {}, {}],
      input: [{}, { type: "function_call", arguments: '{"input":"aa\\n"}' }, {}, { type: "function_call_output" }, {}],
    })
  })
})

describe("chat completions", () => {
  const answer = (response: Parameters<typeof stream>[0]) =>
    stream(response, [
      event({ tool_calls: [{ index: 0, id: "c3", type: "custom", custom: { name: "patch", input: "a" } }] }),
      event({ tool_calls: [{ index: 0, custom: { input: "aa" } }] }),
      event({}, "tool_calls"),
      "data: [DONE]\n\n",
    ])

  test("of OpenAI are sent custom tools", async () => {
    const { baseUrl, requests } = await startServer(answer)
    const backend = createOpenAICompatibleBackend({ modelName: "m", baseUrl, dialect: "openai" })
    const events = await collectEvents(backend.infer({ messages, tools }))
    expect(requests[0]!.body).toMatchObject({
      tools: [
        { type: "custom", custom: { name: "patch", description: "D", format: { type: "grammar", grammar: format } } },
        { type: "custom", custom: { name: "say", description: "D" } },
        { type: "function", function: { name: "search" } },
      ],
      messages: [
        {},
        {
          tool_calls: [
            { id: "c1", type: "custom", custom: { name: "patch", input: "aa\n" } },
            { id: "c2", type: "function", function: { arguments: '{"q":1}' } },
          ],
        },
        { role: "tool", tool_call_id: "c1" },
        {},
      ],
    })
    expect(JSON.parse(textOf(events))).toEqual({ input: "aaa" })
  })

  test("of other servers have functions of one text", async () => {
    const { baseUrl, requests } = await startServer(answer)
    await collectEvents(createOpenAICompatibleBackend({ modelName: "m", baseUrl }).infer({ messages, tools }))
    expect(requests[0]!.body).toMatchObject({ tools: [{ type: "function", function: { name: "patch" } }, {}, {}] })
  })
})

function textOf(events: Awaited<ReturnType<typeof collectEvents>>): string {
  return events.map((one) => (one.type === "call-delta" ? (one.arguments ?? "") : "")).join("")
}

import { ToolwrightError } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { respond } from "./respond.ts"
import type { GatewayEvent, Wire } from "./wire.ts"
import { anthropicMessages } from "./wires/anthropic/wire.ts"
import { ollama } from "./wires/ollama/wire.ts"
import { openAIChat } from "./wires/openai-chat/wire.ts"
import { openAIResponses } from "./wires/responses/wire.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- events of four wires are read, each in its form
type Body = Record<string, any>

const user = { role: "user", content: "Hi" }
const EVENTS: GatewayEvent[] = [
  { type: "reasoning-delta", text: "Hm" },
  { type: "reasoning-delta", text: "m" },
  { type: "text-delta", text: "I " },
  { type: "text-delta", text: "look" },
  { type: "call", call: { id: "c1", name: "look", arguments: { a: 1 } } },
  { type: "call", call: { id: "c2", name: "look", arguments: {} } },
  { type: "end", finishReason: "tool-calls", usage: { inputTokens: 5, outputTokens: 7, reasoningTokens: 2 } },
]

async function* replayed(
  events: readonly GatewayEvent[],
  failure?: Error,
): AsyncGenerator<readonly GatewayEvent[], void> {
  for (const event of events) yield [event]
  if (failure !== undefined) throw failure
}

/** The names of the events of a stream, and their data. */
async function streamed(wire: Wire, path: string, body: Body, events: readonly GatewayEvent[], failure?: Error) {
  const read = wire.read({ model: "m", stream: true, ...body }, { path, caller: "", header: () => undefined })
  if ("ready" in read) throw new Error("the model is not asked")
  const head = { id: "00000000-0000-4000-8000-000000000000", model: "m", created: 1 }
  const response = await respond(
    read,
    { events: replayed(events, failure), leave: () => {} },
    { head, headers: {}, sink: undefined },
  )
  const text = await response.text()
  const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name)
  const data = text
    .split("\n")
    .flatMap((line) => (/^(data: )?\{/.test(line) ? [JSON.parse(line.replace("data: ", "")) as Body] : []))
  return { text, names, data, type: response.headers.get("content-type") }
}

const failed = new ToolwrightError("MODEL_SERVER_ERROR", "It broke.")
const first = EVENTS.slice(0, 3)

test("Chat: one id, the role first, calls numbered, the counts in a piece of their own, [DONE]", async () => {
  const body = { messages: [user], stream_options: { include_usage: true } }
  const { text, data, type } = await streamed(openAIChat, "/v1/chat/completions", body, EVENTS)
  expect([type, text.endsWith("data: [DONE]\n\n"), text.split("[DONE]").length]).toEqual(["text/event-stream", true, 2])
  expect(new Set(data.map(({ id, created, model, object }) => [id, created, model, object].join())).size).toBe(1)
  expect(data.map(({ choices }) => choices[0]?.delta)).toEqual([
    { role: "assistant", content: "" },
    { reasoning_content: "Hm" },
    { reasoning_content: "m" },
    { content: "I " },
    { content: "look" },
    { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "look", arguments: '{"a":1}' } }] },
    { tool_calls: [{ index: 1, id: "c2", type: "function", function: { name: "look", arguments: "{}" } }] },
    {},
    undefined,
  ])
  expect(data.map(({ choices }) => choices[0]?.finish_reason)).toEqual([
    ...Array(7).fill(null),
    "tool_calls",
    undefined,
  ])
  const counts = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
  expect(data.map(({ usage }) => usage)).toEqual([...Array(8).fill(null), expect.objectContaining(counts)])
  const plain = await streamed(openAIChat, "/v1/chat/completions", { messages: [user] }, EVENTS)
  expect(plain.data.some((one) => "usage" in one)).toBe(false)
  const broken = await streamed(openAIChat, "/v1/chat/completions", { messages: [user] }, first, failed)
  expect(broken.data.at(-1)).toMatchObject({ error: { message: "It broke.", type: "api_error", param: null } })
})

test("Responses: every item begins, grows and ends under its number, and the last event has them all", async () => {
  const { names, data } = await streamed(openAIResponses(), "/v1/responses", { input: "Hi" }, EVENTS)
  const item = (part: string, delta: string, count: number) => [
    "response.output_item.added",
    ...(part === "" ? [] : [`response.${part}.added`]),
    ...Array<string>(count).fill(`response.${delta}.delta`),
    `response.${delta}.done`,
    ...(part === "" ? [] : [`response.${part}.done`]),
    "response.output_item.done",
  ]
  expect(names).toEqual([
    "response.created",
    "response.in_progress",
    ...item("reasoning_summary_part", "reasoning_summary_text", 2),
    ...item("content_part", "output_text", 2),
    ...item("", "function_call_arguments", 1),
    ...item("", "function_call_arguments", 1),
    "response.completed",
  ])
  expect(data.map(({ type }) => type)).toEqual(names)
  expect(data.map(({ sequence_number: number }) => number)).toEqual(data.map((_, at) => at))
  const added = data.filter(({ type }) => type === "response.output_item.added")
  expect(added.map((one) => [one.output_index, one.item.type])).toEqual([
    [0, "reasoning"],
    [1, "message"],
    [2, "function_call"],
    [3, "function_call"],
  ])
  for (const { item_id: id, output_index: at } of data.filter((one) => "item_id" in one))
    expect(id).toBe(added[at]!.item.id)
  const done = data.filter(({ type }) => type === "response.output_item.done").map((one) => one.item)
  expect(data.at(-1)!.response).toMatchObject({ status: "completed", output: done, usage: { total_tokens: 12 } })
  const cut = EVENTS.slice(0, 4).concat({ type: "end", finishReason: "length" })
  const short = await streamed(openAIResponses(), "/v1/responses", { input: "Hi" }, cut)
  expect(short.names.at(-1)).toBe("response.incomplete")
  expect(short.data.at(-1)!.response.output.at(-1)).toMatchObject({ type: "message", status: "incomplete" })
  const broken = await streamed(openAIResponses(), "/v1/responses", { input: "Hi" }, first, failed)
  expect(broken.names.slice(-2)).toEqual(["error", "response.failed"])
  expect(broken.data.at(-1)!.response).toMatchObject({ status: "failed", error: { message: "It broke." } })
})

test("Messages: blocks one after the other, thoughts signed, the reason and the counts before the end", async () => {
  const body = { max_tokens: 9, messages: [user], thinking: { type: "enabled", budget_tokens: 1024 } }
  const { names, data } = await streamed(anthropicMessages, "/v1/messages", body, EVENTS)
  const block = (index: number, type: string, deltas: string[]) => [
    ["content_block_start", index, type],
    ...deltas.map((delta) => ["content_block_delta", index, delta]),
    ["content_block_stop", index, undefined],
  ]
  expect(
    data.map((one) => [
      one.type,
      one.index,
      one.content_block?.type ?? (one.index === undefined ? undefined : one.delta?.type),
    ]),
  ).toEqual([
    ["message_start", undefined, undefined],
    ...block(0, "thinking", ["thinking_delta", "thinking_delta", "signature_delta"]),
    ...block(1, "text", ["text_delta", "text_delta"]),
    ...block(2, "tool_use", ["input_json_delta"]),
    ...block(3, "tool_use", ["input_json_delta"]),
    ["message_delta", undefined, undefined],
    ["message_stop", undefined, undefined],
  ])
  expect(data.map(({ type }) => type)).toEqual(names)
  expect(data[0]!.message).toMatchObject({ type: "message", role: "assistant", content: [], stop_reason: null })
  expect(data.at(-2)).toMatchObject({
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { input_tokens: 5, output_tokens: 7 },
  })
  const broken = await streamed(anthropicMessages, "/v1/messages", body, first, failed)
  expect(broken.names.at(-1)).toBe("error")
  expect(broken.data.at(-1)).toMatchObject({ type: "error", error: { type: "api_error", message: "It broke." } })
})

test("Ollama: lines of JSON, of which the last alone is done and counts", async () => {
  const { text, data, type } = await streamed(ollama, "/api/chat", { messages: [user] }, EVENTS)
  expect([type, text.endsWith("}\n"), text.includes("data:")]).toEqual(["application/x-ndjson", true, false])
  expect(data.map(({ done }) => done)).toEqual([...Array(6).fill(false), true])
  expect(
    data.map(({ message }) => message.thinking ?? message.tool_calls?.[0].function.index ?? message.content),
  ).toEqual(["Hm", "m", "I ", "look", 0, 1, ""])
  expect(data.at(-1)).toMatchObject({ done_reason: "stop", prompt_eval_count: 5, eval_count: 7 })
  expect(data.at(-1)!.total_duration).toBeGreaterThan(0)
  const whole = await streamed(ollama, "/api/generate", { prompt: "Hi", stream: false }, EVENTS)
  expect(whole.data[0]).toMatchObject({ response: "I look", thinking: "Hmm", done: true })
  expect(whole.data[0]!.total_duration).toBeGreaterThan(0)
  const broken = await streamed(ollama, "/api/chat", { messages: [user] }, first, failed)
  expect(broken.data.at(-1)).toEqual({ error: "It broke." })
})

import { DynamicExecutor } from "@toolwright/agents"
import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, failure, ToolRegistry, type RunEvent } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { fromUiMessages, uiMessageChunks, uiMessageResponse } from "../index.ts"

const weather = defineTool({
  name: "weather",
  description: "Weather of a city",
  parameters: {
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
    additionalProperties: false,
  },
  execute: ({ city }) =>
    city === "Atlantis" ? failure({ code: "NOT_FOUND", message: "No such city." }) : { celsius: 4 },
})

type Reply = Parameters<typeof createScriptedBackend>[0]["steps"][number]

function executorOf(steps: Reply[]) {
  const tools = new ToolRegistry()
  tools.register(weather)
  const backend = createScriptedBackend({ abilities: { nativeTools: true }, steps })
  return new DynamicExecutor({ tools, backend })
}

async function chunksOf(steps: Reply[]) {
  const all = []
  for await (const chunk of uiMessageChunks(executorOf(steps).run({ task: "Weather?" }))) all.push(chunk)
  return all
}

/** Pieces of one part as one, and without what differs from run to run. */
function told(chunks: Awaited<ReturnType<typeof chunksOf>>): unknown[] {
  const all: Record<string, unknown>[] = []
  for (const { messageMetadata, ...chunk } of chunks) {
    const last = all.at(-1)
    if (chunk.type.endsWith("-delta") && last?.["type"] === chunk.type && last["id"] === chunk["id"])
      last["delta"] = `${String(last["delta"])}${String(chunk["delta"])}`
    else
      all.push({ ...chunk, ...(messageMetadata === undefined ? {} : { of: Object.keys(messageMetadata as object) }) })
  }
  return all
}

const call = (city: string) => ({ name: "weather", arguments: { city } })

test("a run is told as the parts of a message, in order and each with its beginning and end", async () => {
  const chunks = await chunksOf([
    { reply: { reasoning: "Look it up.", text: "A moment.", calls: [{ id: "c1", ...call("Bern") }] } },
    { reply: "4 degrees." },
  ])
  expect(told(chunks)).toEqual([
    { type: "start" },
    { type: "message-metadata", of: ["runId"] },
    { type: "start-step" },
    { type: "reasoning-start", id: "1" },
    { type: "reasoning-delta", id: "1", delta: "Look it up." },
    { type: "reasoning-end", id: "1" },
    { type: "text-start", id: "2" },
    { type: "text-delta", id: "2", delta: "A moment." },
    { type: "text-end", id: "2" },
    { type: "tool-input-available", toolCallId: "c1", toolName: "weather", input: { city: "Bern" } },
    { type: "tool-output-available", toolCallId: "c1", output: { celsius: 4 } },
    { type: "finish-step" },
    { type: "start-step" },
    { type: "text-start", id: "3" },
    { type: "text-delta", id: "3", delta: "4 degrees." },
    { type: "text-end", id: "3" },
    { type: "finish-step" },
    { type: "message-metadata", of: ["runId", "outcome", "success"] },
    { type: "finish" },
  ])
})

test("what went wrong is told: a call that does not fit, one that failed, and an end that the model does not speak of", async () => {
  const chunks = await chunksOf([
    { reply: { calls: [{ id: "c1", name: "weather", arguments: { town: "Bern" } }] } },
    { reply: { calls: [{ id: "c2", ...call("Atlantis") }] } },
    { reply: "It is warm." },
  ])
  expect(chunks).toContainEqual({
    type: "tool-input-error",
    toolCallId: "c1",
    toolName: "weather",
    input: { town: "Bern" },
    errorText: expect.stringContaining("city"),
  })
  expect(chunks).toContainEqual({ type: "tool-output-error", toolCallId: "c2", errorText: "No such city." })
  const text = chunks.flatMap(({ type, delta }) => (type === "text-delta" ? [delta] : [])).join("")
  expect(text).toMatch(/^It is warm\.\[completed-with-failures: .*No such city.*\]$/s)
  expect(chunks.at(-2)?.["messageMetadata"]).toMatchObject({ outcome: "completed-with-failures", success: false })

  const failed = await chunksOf([{ reply: { text: "It sa", error: { code: "MODEL_BAD_REPLY", message: "Cut off." } } }])
  expect(failed.slice(-2)).toEqual([
    { type: "error", errorText: expect.stringContaining("Cut off.") },
    { type: "finish" },
  ])

  // eslint-disable-next-line require-yield -- it never comes to an event
  async function* broken(): AsyncGenerator<RunEvent> {
    throw new Error("No model.")
  }
  const thrown = []
  for await (const chunk of uiMessageChunks(broken())) thrown.push(chunk.type)
  expect(thrown).toEqual(["start", "error", "finish"])
})

test("as an answer it is an event stream of that protocol, and whoever goes away ends the run", async () => {
  const answer = uiMessageResponse(executorOf([{ reply: "Hello." }]).run({ task: "Hi" }))
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "text/event-stream",
    "x-vercel-ai-ui-message-stream": "v1",
  })
  const lines = (await answer.text()).split("\n\n").slice(0, -1)
  expect(lines.at(-1)).toBe("data: [DONE]")
  expect(lines.every((line) => line.startsWith("data: "))).toBe(true)

  let ended = false
  async function* endless(): AsyncGenerator<RunEvent> {
    try {
      for (;;) yield { type: "text-delta", text: "on and on " }
    } finally {
      ended = true
    }
  }
  const reader = uiMessageResponse(endless()).body!.getReader()
  await reader.read()
  await reader.read()
  await reader.cancel()
  expect(ended).toBe(true)
})

test("a conversation of such messages is taken up: words, calls that ran and their results, and the task", () => {
  const messages = [
    { id: "0", role: "system", parts: [{ type: "text", text: "You are somebody else." }] },
    {
      id: "1",
      role: "user",
      parts: [
        { type: "text", text: "Weather?" },
        { type: "text", text: "In Bern." },
      ],
    },
    {
      id: "2",
      role: "assistant",
      parts: [
        { type: "step-start" },
        { type: "text", text: "A moment." },
        {
          type: "tool-weather",
          toolCallId: "c1",
          state: "output-available",
          input: { city: "Bern" },
          output: { celsius: 4 },
        },
        {
          type: "dynamic-tool",
          toolName: "book",
          toolCallId: "c2",
          state: "output-error",
          input: [],
          errorText: "Full.",
        },
        { type: "tool-weather", toolCallId: "c3", state: "input-available", input: { city: "Basel" } },
        { type: "step-start" },
        { type: "reasoning", text: "Say it." },
        { type: "text", text: "4 degrees." },
      ],
    },
    { id: "3", role: "user", parts: [{ type: "text", text: "And in Basel?" }] },
  ]
  expect(fromUiMessages(messages)).toEqual(fromUiMessages({ id: "chat", messages, trigger: "submit-message" }))
  expect(fromUiMessages(messages)).toEqual({
    task: "And in Basel?",
    history: [
      { role: "user", content: "Weather?\n\nIn Bern." },
      {
        role: "assistant",
        content: "A moment.",
        toolCalls: [
          { id: "c1", name: "weather", arguments: { city: "Bern" } },
          { id: "c2", name: "book", arguments: {} },
        ],
      },
      { role: "tool", callId: "c1", name: "weather", success: true, content: '{"celsius":4}' },
      { role: "tool", callId: "c2", name: "book", success: false, content: "Full." },
      { role: "assistant", content: "4 degrees." },
    ],
  })
})

test("what is no such conversation is refused with what is wrong", () => {
  for (const [given, why] of [
    [undefined, "no list"],
    [null, "no list"],
    [{ message: [] }, "no list"],
    ["Hello", "no list"],
    [[null], "no parts"],
    [[{ role: "user", content: "Hello" }], "no parts"],
    [[{ role: "tool", parts: [] }], "of nobody"],
    [[{ role: "user", parts: [null, 7, { type: "text", text: 5 }] }], "no text of the user"],
    [[{ role: "assistant", parts: [{ type: "text", text: "Hi" }] }], "no text of the user"],
    [[], "no text of the user"],
  ] as const)
    expect(() => fromUiMessages(given)).toThrow(expect.objectContaining({ message: expect.stringContaining(why) }))
})

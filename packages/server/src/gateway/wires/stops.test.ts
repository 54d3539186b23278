import type { Backend, InferRequest } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "../../index.ts"

/** A gateway before a model that writes a text, some letters at a time, and goes on without end unless it ends. */
async function serve(text: string, ends = false) {
  const seen: { requests: InferRequest[]; left: number } = { requests: [], left: 0 }
  const backend: Backend = {
    kind: "said",
    abilities: { nativeTools: false, grammar: false, jsonSchema: false },
    modelName: () => "qwen2.5-7b",
    async *infer(request) {
      seen.requests.push(request)
      try {
        const last = ends ? text.length : Infinity
        for (let at = 0; at < last; at += 3) yield { type: "text-delta", text: text.slice(at, at + 3) || "more " }
        yield { type: "end", finishReason: "stop" }
      } finally {
        seen.left++
      }
    },
  }
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  return { server: await listen(app, { port: 0, secured: false }), seen }
}

const tool = { name: "look", description: "Looks", input_schema: { type: "object" } }

describe.each([
  ["with tools", [tool]],
  ["without", []],
] as const)("a stop sequence %s", (_, tools) => {
  test.each([false, true])("ends the text and is named, streamed: %s", async (stream) => {
    const { server, seen } = await serve("One, two END three STOP four")
    await using _server = server
    const asked = {
      model: "m",
      max_tokens: 50,
      stream,
      stop_sequences: ["STOP", "END"],
      messages: [{ role: "user", content: "Count" }],
      ...(tools.length === 0 ? {} : { tools }),
    }
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${server.url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(asked) })
    const text = await response.text()
    const ended = { stop_reason: "stop_sequence", stop_sequence: "END" }
    if (stream) {
      const events = text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []))
      expect(events.map(({ delta }) => delta?.text ?? "").join("")).toBe("One, two ")
      expect(events.filter(({ type }) => type === "message_delta")).toMatchObject([{ delta: ended }])
    } else expect(JSON.parse(text)).toMatchObject({ content: [{ type: "text", text: "One, two " }], ...ended })
    expect(seen).toMatchObject({ left: 1, requests: [expect.anything()] })
  })
})

test("what only begins as a stop sequence stands before the call that follows it", async () => {
  const { server } = await serve('I saw ST<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>', true)
  await using _server = server
  const messages = [{ role: "user", content: "Look" }]
  const asked = { model: "m", max_tokens: 50, stream: true, stop_sequences: ["STOP"], messages, tools: [tool] }
  const headers = { "content-type": "application/json" }
  const response = await fetch(`${server.url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(asked) })
  const events = [...(await response.text()).matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!))
  const blocks = events.flatMap(({ content_block: block, delta }) => block?.type ?? delta?.text ?? [])
  expect([blocks[0], blocks.at(-1), blocks.slice(1, -1).join("")]).toEqual(["text", "tool_use", "I saw ST"])
})

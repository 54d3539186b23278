import type { Backend, InferRequest } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import Anthropic from "@anthropic-ai/sdk"
import { describe, expect, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "../../index.ts"

/** A gateway before a model that writes a text without end, some letters at a time, whatever its server was told. */
async function serve(text: string) {
  const seen: { requests: InferRequest[]; left: number } = { requests: [], left: 0 }
  const backend: Backend = {
    kind: "said",
    abilities: { nativeTools: false, grammar: false, jsonSchema: false },
    modelName: () => "qwen2.5-7b",
    async *infer(request) {
      seen.requests.push(request)
      try {
        for (let at = 0; ; at += 3) yield { type: "text-delta", text: text.slice(at, at + 3) || "more " }
      } finally {
        seen.left++
      }
    },
  }
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  return { server: await listen(app, { port: 0, secured: false }), seen }
}

const tool = { name: "look", description: "Looks", input_schema: { type: "object" as const } }

describe.each([
  ["with tools", [tool]],
  ["without", []],
] as const)("a stop sequence %s", (_, tools) => {
  test.each([false, true])("ends the text and is named, streamed: %s", async (stream) => {
    const { server, seen } = await serve("One, two END three STOP four")
    await using _server = server
    const client = new Anthropic({ baseURL: server.url, apiKey: "none", maxRetries: 0 })
    const asked = {
      model: "m",
      max_tokens: 50,
      stop_sequences: ["STOP", "END"],
      messages: [{ role: "user" as const, content: "Count" }],
      ...(tools.length === 0 ? {} : { tools: [...tools] }),
    }
    const message = stream ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked)
    expect(message).toMatchObject({
      content: [{ type: "text", text: "One, two " }],
      stop_reason: "stop_sequence",
      stop_sequence: "END",
    })
    expect(seen).toMatchObject({ left: 1, requests: [expect.anything()] })
  })
})

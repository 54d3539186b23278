import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { loadPrompts } from "@toolwright/prompts"
import { defineTool, ToolRegistry, UNHOSTED } from "@toolwright/toolbox"
import { describe, expect, test, vi } from "vitest"
import { HttpMCPClient } from "../import/http-client.ts"
import { serveRegistry } from "../testing/serve-registry.ts"

const seen: { aborted?: boolean } = {}
const registry = new ToolRegistry()
registry.register(
  defineTool({
    name: "search",
    description: "Searches",
    effects: { readOnly: true, idempotent: true },
    parameters: {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      oneOf: [
        { properties: { action: { const: "grep" }, pattern: { type: "string" } }, required: ["action", "pattern"] },
        { properties: { action: { const: "find" }, name: { type: "string" } }, required: ["action", "name"] },
      ],
    },
    outputSchema: { type: "object", properties: { found: { type: "array" } } },
    execute: (args) => ({ found: [args] }),
  }),
)
registry.register(
  defineTool({
    name: "hang",
    description: "",
    parameters: { type: "object" },
    execute: (_args, { signal }) => {
      seen.aborted = false
      return new Promise(() => signal.addEventListener("abort", () => (seen.aborted = true)))
    },
  }),
)

registry.register(
  defineTool({
    name: "key",
    description: "Says under which key it was called",
    parameters: { type: "object" },
    execute: (_args, { idempotencyKey }) => idempotencyKey,
  }),
)

describe.each(["legacy", "auto"] as const)("a host of the %s protocol", (mode) => {
  const connect = async (url: string) => {
    const client = new Client({ name: "host", version: "1" }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    return client
  }

  test("sees tools with plain object schemas and annotations, calls them, and reads prompts", async () => {
    await using server = await serveRegistry({ tools: registry, prompts: await loadPrompts() })
    const client = await connect(server.url)
    const { tools } = await client.listTools()
    const [search] = tools
    expect(search).toMatchObject({
      inputSchema: {
        type: "object",
        properties: { action: { enum: ["grep", "find"] }, pattern: {}, name: {} },
        required: ["action"],
      },
      annotations: { readOnlyHint: true, idempotentHint: true },
    })
    expect(search?.inputSchema).not.toHaveProperty("$schema")
    expect(search?.inputSchema).not.toHaveProperty("oneOf")
    const result = await client.callTool({ name: "search", arguments: { action: "grep", pattern: "x" } })
    expect(result).toMatchObject({
      structuredContent: { found: [{ action: "grep", pattern: "x" }] },
      content: [{ type: "text" }],
    })
    const wrong = await client.callTool({ name: "search", arguments: { pattern: "x" } })
    expect(wrong).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/action: is required and missing[\s\S]*"action":"grep","pattern":"x"/) }],
    })
    const unknown = await client
      .callTool({ name: "serach", arguments: {} })
      .catch((error: unknown) => ({ isError: true, content: [{ type: "text", text: String(error) }] }))
    expect(unknown).toMatchObject({ isError: true })
    expect((await client.listPrompts()).prompts).toHaveLength(15)
    const prompt = await client.getPrompt({ name: "code_review", arguments: { code: "x" } })
    expect(prompt.messages[0]?.content).toMatchObject({
      type: "text",
      text: expect.stringContaining("Review the following code"),
    })
    await client.close()
  })

  test("can cancel a call", async () => {
    delete seen.aborted
    await using server = await serveRegistry({ tools: registry })
    const client = await connect(server.url)
    const controller = new AbortController()
    const running = client
      .callTool({ name: "hang", arguments: {} }, { signal: controller.signal })
      .catch((error: unknown) => error)
    await vi.waitFor(() => expect(seen.aborted).toBe(false))
    controller.abort()
    expect(await running).toBeInstanceOf(Error)
    if (mode === "auto") await vi.waitFor(() => expect(seen.aborted).toBe(true))
    await client.close()
  })
})

test("a call's key reaches the tool that carries it out, over MCP too", async () => {
  await using server = await serveRegistry({ tools: registry })
  await using client = await HttpMCPClient.create({ name: "other", url: server.url })
  const context = { signal: new AbortController().signal, progress: () => {} }
  expect((await client.callTool("key", {}, { ...context, idempotencyKey: "once" })).output).toContain("once")
  const [tool] = client.toToolDefinitions().filter(({ name }) => name === "key")
  const result = await tool!.handler({}, { ...UNHOSTED, ...context, callId: "c", idempotencyKey: "twice" })
  expect((result as { output: string }).output).toContain("twice")
})

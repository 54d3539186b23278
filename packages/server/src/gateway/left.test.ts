import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { DynamicExecutor } from "@toolwright/agents"
import { createOpenAICompatibleBackend } from "@toolwright/backends"
import { defineTool, ToolRegistry } from "@toolwright/toolbox"
import { expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "../index.ts"

const chunk = (delta: object): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`
/** What may lie in the buffers of the sockets between the model and the client. */
const IN_FLIGHT = 32 * 1024 * 1024

/** A model server that writes for ever, and tells when it was left and how much was taken until then. */
async function endlessModel(first: string, again: string) {
  const poured = Promise.withResolvers<number>()
  const begun = Promise.withResolvers<void>()
  const server: Server = createServer((request, response) => {
    request.resume()
    pour(response)
  })
  function pour(response: ServerResponse): void {
    const piece = Buffer.from(again.repeat(100))
    let bytes = 0
    response.on("close", () => poured.resolve(bytes))
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(first)
    begun.resolve()
    const more = (): void => {
      while (!response.destroyed) {
        bytes += piece.length
        if (!response.write(piece)) return void response.once("drain", more)
      }
    }
    more()
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return { baseUrl, poured: poured.promise, begun: begun.promise }
}

const tools = new ToolRegistry()
tools.register(
  defineTool({ name: "look", description: "Looks", parameters: { type: "object" }, execute: () => "seen" }),
)
const offered = [{ type: "function", function: { name: "look", description: "Looks", parameters: { type: "object" } } }]

const begin = chunk({ tool_calls: [{ index: 0, id: "a", function: { name: "look", arguments: '{"a":"' } }] })
const rest = chunk({ tool_calls: [{ index: 0, function: { arguments: "x".repeat(100) } }] })
const ENDLESS: [string, string, string][] = [
  ["text", "", chunk({ content: "x".repeat(100) })],
  ["arguments", begin, rest],
  ["one event", 'data: {"a":"', "x"],
]

test.each(
  ENDLESS.flatMap(([what, first, again]) =>
    [true, false].flatMap((stream) => [true, false].map((agent) => [what, stream, agent, first, again] as const)),
  ),
)(
  "a client that leaves ends the model's endless %s (stream: %s, agent: %s)",
  async (_, stream, agent, first, again) => {
    const model = await endlessModel(first, again)
    const backend = createOpenAICompatibleBackend({ baseUrl: model.baseUrl, modelName: "m", retryDelaysMs: [] })
    const executor = new DynamicExecutor({ tools, backend })
    const app = createApp({ tools }, (application) =>
      gatewayRoutes(application, { backend, agents: [{ name: "helper", run: (request) => executor.run(request) }] }),
    )
    const server = await listen(app, { port: 0, secured: false })
    onTestFinished(() => server.close())
    const controller = new AbortController()
    const body = {
      model: agent ? "toolwright/helper" : "m",
      stream,
      messages: [{ role: "user", content: "go" }],
      ...(agent ? {} : { tools: offered }),
    }
    const asked = fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: controller.signal,
    }).then((response) => response.text())
    await model.begun
    controller.abort()
    await expect(asked).rejects.toThrow("abort")
    expect(await model.poured).toBeLessThan(IN_FLIGHT)
  },
)

import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { createToolwright } from "@toolwright/runtime"
import { expect, onTestFinished, test } from "vitest"
import { cli, folderWith } from "../testing/run-cli.ts"
import { serveToolwright } from "./serve-toolwright.ts"

const TRACE = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", tracestate: "a=1" }

/** A server that notes of each request, by method and path, which trace it says that it is part of. */
async function noting(answer: (request: IncomingMessage, body: string) => unknown) {
  const seen: Record<string, unknown> = {}
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const piece of request.setEncoding("utf8")) body += String(piece)
    const { traceparent, tracestate } = request.headers
    seen[`${request.method} ${request.url}`] = { traceparent, tracestate }
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer(request, body)))
  })
  server.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const service = () =>
  noting(({ method }) =>
    method === "GET"
      ? [{ name: "weather", description: "Says the weather", parameters: { type: "object" }, tags: [] }]
      : { success: true, result: "rain", error: null, metadata: {}, execution_time_ms: 1 },
  )

/** A model that asks for the weather and then says it. */
const model = () =>
  noting((_request, body) => {
    const call = { id: "c1", type: "function", function: { name: "weather", arguments: "{}" } }
    const message = body.includes('"tool"')
      ? { role: "assistant", content: "It rains." }
      : { role: "assistant", content: null, tool_calls: [call] }
    return { choices: [{ index: 0, message, finish_reason: "stop" }] }
  })

test("a trace goes on from a request through the run to the model's server and the services that it asks", async () => {
  const [tools, llm] = [await service(), await model()]
  const toolwright = await createToolwright({
    cwd: folderWith({}),
    sources: { rest: { weather: tools.url } },
    model: { baseUrl: `${llm.url}/v1`, name: "qwen2.5-7b-instruct" },
  })
  onTestFinished(() => toolwright.close())
  const served = await serveToolwright(toolwright, { port: 0, tokens: [{ token: "long-enough" }] })
  onTestFinished(() => served.close())
  const headers = { authorization: "Bearer long-enough", "content-type": "application/json" }
  const messages = [{ role: "user", content: "What is the weather?" }]
  for (const stream of [false, true]) {
    const body = JSON.stringify({ model: "toolwright/assistant", messages, stream })
    const ask = (more: object) =>
      fetch(`${served.url}/v1/chat/completions`, { method: "POST", headers: { ...headers, ...more }, body })
    expect(await (await ask(TRACE)).text()).toContain("It rains.")
    expect(tools.seen["POST /tools/weather"]).toEqual(TRACE)
    expect(llm.seen["POST /v1/chat/completions"]).toEqual(TRACE)
    await (await ask({})).text()
    expect(tools.seen["POST /tools/weather"], "what says nothing is part of nothing").toEqual({})
  }
})

test("a command that is started as part of a trace tells the services that it asks", async () => {
  const [tools, llm] = [await service(), await model()]
  const args = ["run", "what is the weather?", "--rest", tools.url, "--no-builtins"]
  const asked = [...args, "--model", "qwen2.5-7b-instruct", "--base-url", `${llm.url}/v1`]
  const env = { TRACEPARENT: TRACE.traceparent, TRACESTATE: TRACE.tracestate }
  const { code, stdout } = await cli(asked, { cwd: folderWith({}), env })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("It rains.") })
  expect(tools.seen).toEqual({ "GET /tools/": TRACE, "POST /tools/weather": TRACE })
  expect(llm.seen["POST /v1/chat/completions"]).toEqual(TRACE)
})

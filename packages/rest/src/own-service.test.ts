import { readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { ToolsApiClient } from "./client.ts"

const page = readFileSync(join(import.meta.dirname, "../../../docs/deployment.md"), "utf8")
/** What the page says that a service answers, in its order: the list, a result, a failure. */
const [list = "", result = "", failed = ""] = /^## A service of your own$.*?(?=^## )/msu
  .exec(page)![0]
  .split("```json\n")
  .slice(1)
  .map((block) => block.split("```")[0]!)

async function clientOf(answer: (method: string, path: string) => string): Promise<ToolsApiClient> {
  const server: Server = createServer((request, response) => {
    request.resume()
    response.end(answer(request.method!, request.url!))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return new ToolsApiClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
}

test("a service that answers as the page shows is one, and its failures are told", async () => {
  const client = await clientOf((_, path) =>
    path === "/tools/" ? list : path === "/tools/find_bird" ? result : failed,
  )
  expect((await client.list()).map(({ name }) => name)).toEqual(["find_bird"])
  expect(await client.executeTool("find_bird", { name: "wren" })).toMatchObject({
    success: true,
    data: { name: "wren", length_cm: 9.5 },
  })
  expect(await client.executeTool("other")).toMatchObject({
    success: false,
    error: { code: "TOOL_FAILED", message: "There is no bird 'dodo'." },
  })
})

test.each([
  ["'result'", '{ "success": true }'],
  ["'result'", '{ "success": true, "data": 3 }'],
  ["'success'", '{ "temperature": 21 }'],
  ["'success'", "null"],
  ["'success'", '"done"'],
])("an answer without %s is told as no answer, and not taken for an empty success: %s", async (lacks, body) => {
  const client = await clientOf(() => body)
  expect(await client.executeTool("find_bird")).toMatchObject({
    success: false,
    error: {
      code: "SOURCE_BAD_REPLY",
      message: expect.stringMatching(new RegExp(`answered POST /tools/find_bird without ${lacks}`)) as string,
      hint: expect.stringContaining('"result": …') as string,
    },
  })
})

test("one that has nothing to give says so", async () => {
  const client = await clientOf(() => '{ "success": true, "result": null }')
  expect(await client.executeTool("ring")).toMatchObject({ success: true, output: "" })
})

test("one that wraps its list is told what a list is", async () => {
  const client = await clientOf(() => `{ "tools": ${list} }`)
  await expect(client.list()).rejects.toMatchObject({
    code: "SOURCE_BAD_REPLY",
    hint: expect.stringContaining('array of {"name"') as string,
  })
})

test("its prompts are listed, and rendered with their bare arguments", async () => {
  const asked: string[] = []
  const listed = [{ name: "greet", description: "Greets", arguments: [], tags: [] }]
  const rendered = { success: true, messages: [{ role: "user", content: "Hello" }], error: null, metadata: {} }
  const client = await clientOf((method, path) => {
    asked.push(`${method} ${path}`)
    return JSON.stringify(method === "GET" ? listed : rendered)
  })
  expect(await client.listPrompts()).toEqual(listed)
  expect(await client.renderPrompt("greet", { name: "Ada" })).toEqual(rendered)
  expect(asked).toEqual(["GET /prompts/", "POST /prompts/greet"])
})

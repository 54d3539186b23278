import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { configurationReference } from "../../packages/runtime/src/configuration/reference.ts"
import { createScriptedBackend, serveBackend } from "../../packages/backends/src/scripted/index.ts"
import { expect, test } from "vitest"
import { blocks, read, root, runExample } from "./run-example.ts"

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...(readdirSync(join(root, "docs"), { recursive: true }) as string[])
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
]
test.each(pages)("%s links only to what is there", (page) => {
  const links = [...read(page).matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
    .map((match) => match[1]!)
    .filter((link) => !/^[a-z]+:/.test(link))
  expect(links.filter((link) => !existsSync(join(root, dirname(page), link)))).toEqual([])
})

test("the configuration reference is what the settings say", () => {
  if (process.env.UPDATE_DOCS === "1") writeFileSync(join(root, "docs/configuration.md"), configurationReference())
  expect(read("docs/configuration.md")).toBe(configurationReference())
})

test("the library example of the README runs against a server", async () => {
  const steps = [
    { reply: { calls: [{ name: "get_forecast", arguments: { city: "Zürich", days: 1 } }] } },
    { expect: { result: "6" }, reply: "It stays dry." },
  ]
  await using server = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const [example] = blocks("README.md", "ts")
  expect(await runExample("readme", example!.replace("http://localhost:8080/v1", server.baseUrl))).toBe("It stays dry.")
})

test("the program for those who know the AI SDK runs against a server, and is no longer than theirs", async () => {
  const [ours, theirs] = blocks("docs/from-the-ai-sdk.md", "ts")
  const steps = [
    { reply: { calls: [{ name: "forecast", arguments: { city: "Bern" } }] } },
    { expect: { result: "4" }, reply: "It has 4 degrees: wear one." },
    { expect: { jsonSchema: true }, reply: '{"coat": true, "why": "It has 4 degrees."}' },
  ]
  await using server = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const program = ours!.replace("http://localhost:8080/v1", server.baseUrl)
  expect(await runExample("from-the-ai-sdk", program)).toBe("degrees: 4\nyes: It has 4 degrees.\n")
  expect(ours!.split("\n").length).toBeLessThanOrEqual(theirs!.split("\n").length)
})

test("the route for useChat takes its messages and answers in its protocol", async () => {
  const steps = [{ reply: { calls: [{ name: "forecast", arguments: { city: "Bern" } }] } }, { reply: "4 degrees." }]
  await using server = await serveBackend(createScriptedBackend({ abilities: { nativeTools: true }, steps }))
  const route = blocks("docs/from-the-ai-sdk.md", "ts")[2]!.replace("http://localhost:8080/v1", server.baseUrl)
  const asked = `
const messages = [{ role: "user", parts: [{ type: "text", text: "How warm is it in Bern?" }] }]
const answer = await POST(new Request("http://localhost/", { method: "POST", body: JSON.stringify({ messages }) }))
for (const line of (await answer.text()).split("\\n\\n")) {
  const chunk = line.startsWith("data: {") ? JSON.parse(line.slice(6)) : {}
  if (chunk.type === "tool-output-available") console.log(JSON.stringify(chunk.output))
  if (chunk.type === "text-delta") process.stdout.write(chunk.delta)
}`
  expect(await runExample("use-chat", route + asked)).toBe('{"celsius":4}\n4 degrees.')
})

test("the commands of the README that need no model run", () => {
  const lines = blocks("README.md", "sh")
    .flatMap((block) => block.split("\n"))
    .filter((line) => /^npx toolwright (tools|config)/.test(line))
  expect(lines.length).toBeGreaterThan(2)
  for (const line of lines) {
    const output = execFileSync(
      "sh",
      ["-c", line.replace("npx toolwright", `"${process.execPath}" packages/cli/bin/toolwright.js`)],
      { cwd: root, encoding: "utf8" },
    )
    expect(output.length, line).toBeGreaterThan(20)
  }
})

test("the server's example serves a tool and calls it from another registry", async () => {
  expect(await runExample("server", blocks("docs/server.md", "ts")[0]!)).toBe("true string\n")
})

test("the example of adding a tool runs and says what its page says", async () => {
  const output = await runExample("adding-a-tool", blocks("docs/adding-a-tool.md", "ts")[0]!)
  for (const part of [
    "{ words: 3 }",
    "TOO_LONG",
    "text: is required and missing",
    "txt: is not known here. Did you mean 'text'?",
    "most: must be an integer",
  ]) {
    expect(output).toContain(part)
  }
  expect(await runExample("adding-a-path-tool", blocks("docs/adding-a-tool.md", "ts")[1]!)).toBe(
    "ACCESS_DENIED\ntrue\n",
  )
})

test("the tool that starts programs in adding-a-tool.md runs", async () => {
  expect(await runExample("adding-a-process-tool", blocks("docs/adding-a-tool.md", "ts")[2]!)).toBe(
    "ACCESS_DENIED\ntrue\n",
  )
})

test("the file of a built-in tool in adding-a-tool.md runs", async () => {
  expect(await runExample("adding-a-built-in-tool", blocks("docs/adding-a-tool.md", "ts")[3]!)).toBe("ACCESS_DENIED\n")
})

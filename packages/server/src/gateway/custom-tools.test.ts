import { createScriptedBackend } from "@toolwright/backends"
import { ToolRegistry } from "@toolwright/toolbox"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes, listen } from "../index.ts"

const GRAMMAR = { syntax: "lark", definition: 'start: "+" /[a-z]+/ "\\n"' }
const PATCH = { name: "patch", description: "Changes a file" }
const CHAT = [{ type: "custom", custom: { ...PATCH, format: { type: "grammar", grammar: GRAMMAR } } }]
const RESPONSES = [{ type: "custom", ...PATCH, format: { type: "grammar", ...GRAMMAR } }]
const call = (input: string) => `<tool_call>\n${JSON.stringify({ name: "patch", arguments: { input } })}\n</tool_call>`

async function serve(...texts: string[]) {
  const steps = texts.map((text) => ({ reply: { text } }))
  const backend = createScriptedBackend({
    model: "qwen2.5-7b",
    abilities: { nativeTools: false, grammar: true },
    chunks: 3,
    steps,
  })
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
  const server = await listen(app, { port: 0, secured: false })
  onTestFinished(() => server.close())
  const ask = async (path: string, body: object): Promise<Response> =>
    fetch(`${server.url}/v1/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-toolwright-repair": "1" },
      body: JSON.stringify({ model: "m", ...body }),
    })
  return { backend, ask }
}

const PATCH_FUNCTION = { type: "function", name: "patch" }

const messages = [
  { role: "user", content: "Go" },
  { role: "assistant", tool_calls: [{ id: "c1", type: "custom", custom: { name: "patch", input: "+a\n" } }] },
  { role: "tool", tool_call_id: "c1", content: "done" },
]

describe("custom tools over chat completions", () => {
  test("are held to their grammar in the family's own syntax, and answered as custom calls", async () => {
    const { backend, ask } = await serve(call("+abc\n"))
    const response = await ask("chat/completions", { messages, tools: CHAT })
    expect(await response.json()).toMatchObject({
      choices: [
        {
          finish_reason: "tool_calls",
          message: { tool_calls: [{ type: "custom", custom: { name: "patch", input: "+abc\n" } }] },
        },
      ],
    })
    const [request] = backend.requests
    expect(request!.grammar).toContain("text-patch-0-lark-start")
    expect(JSON.stringify(request!.messages)).toContain("+a")
  })

  test("are streamed as custom calls", async () => {
    const { ask } = await serve(call("+abc\n"))
    const text = await (await ask("chat/completions", { messages, tools: CHAT, stream: true })).text()
    expect(text).toContain('"type":"custom","custom":{"name":"patch","input":"+abc\\n"}')
  })

  test("a text outside the grammar is told to the model, which puts it right", async () => {
    const { backend, ask } = await serve(call("abc"), call("+abc\n"))
    const body = (await (await ask("chat/completions", { messages, tools: CHAT })).json()) as object
    expect(body).toMatchObject({
      choices: [{ message: { tool_calls: [{ custom: { input: "+abc\n" } }] } }],
    })
    expect(JSON.stringify(backend.requests[1]!.messages)).toContain("it leaves it at line 1, column 1")
  })

  test("a grammar that cannot be read holds nothing, and the answer says so", async () => {
    const { ask } = await serve(call("anything"))
    const format = { type: "grammar", grammar: { syntax: "lark", definition: "start: /(?=a)b/" } }
    const response = await ask("chat/completions", {
      messages,
      tools: [{ type: "custom", custom: { ...PATCH, format } }],
    })
    expect([...response.headers.values()].join()).toContain("tools[0].custom.format")
    expect(await response.json()).toMatchObject({
      choices: [{ message: { tool_calls: [{ custom: { input: "anything" } }] } }],
    })
  })

  test("what is neither a function nor a custom tool is refused", async () => {
    const { ask } = await serve()
    const response = await ask("chat/completions", { messages, tools: [{ type: "custom" }] })
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("type: 'custom'")])
  })
})

test("custom tools over the Responses API are held likewise", async () => {
  const { backend, ask } = await serve(call("abc"), call("+abc\n"))
  const input = [
    { role: "user", content: "Go" },
    { type: "custom_tool_call", call_id: "c1", name: "patch", input: "+a\n" },
    { type: "custom_tool_call_output", call_id: "c1", output: "done" },
  ]
  const response = await ask("responses", { input, tools: RESPONSES })
  expect(await response.json()).toMatchObject({
    output: [{ type: "custom_tool_call", name: "patch", input: "+abc\n" }],
  })
  expect(backend.requests[0]!.grammar).toContain("text-patch-0-lark-start")
  expect(JSON.stringify(backend.requests[1]!.messages)).toContain("it leaves it at line 1, column 1")
})

describe("tools that come in crowds", () => {
  test("grammars that are too large together hold nothing from there on, and the answer says which", async () => {
    const { ask } = await serve(call("anything"))
    const definition = `start: ${"/\\p{L}/ ".repeat(130)}`
    const tools = Array.from({ length: 300 }, (_, at) => ({
      type: "custom",
      custom: { name: `patch${at}`, format: { type: "grammar", grammar: { syntax: "lark", definition } } },
    }))
    const response = await ask("chat/completions", { messages, tools: [...tools, ...CHAT] })
    expect(response.status).toBe(200)
    const left = [...response.headers.values()].join()
    expect(left).toContain("tools[299].custom.format")
    expect(left).not.toContain("tools[0].custom.format")
  })

  test("schemas that ask for too much work together hold nothing from there on, and the others are called all the same", async () => {
    const { backend, ask } = await serve("Done.")
    const choices = (list: number) => ({
      anyOf: Array.from({ length: 7 }, (_, at) => ({ required: [`a${list}${at}`] })),
    })
    const dear = { allOf: Array.from({ length: 8 }, (_, list) => choices(list)) }
    const wide = Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`w${at}`, { type: "string" }]))
    const held = { type: "object", properties: { days: { type: "integer" } }, required: ["days"] }
    const of = (name: string, parameters: object) => ({ type: "function", function: { name, parameters } })
    const crowd = Array.from({ length: 200 }, (_, at) => of(`dear${at}`, { type: "object", properties: { dear } }))
    const tools = [of("first", held), ...crowd, of("wide", { type: "object", properties: wide }), of("last", held)]
    const response = await ask("chat/completions", { messages, tools })
    expect(response.status).toBe(200)
    const { grammar } = backend.requests[0]!
    for (const name of ["first", "dear0", "dear199", "wide", "last"]) expect(grammar).toContain(name)
    // The first is held to its schema; for the last nothing was left, not even for its names.
    expect(grammar!.match(/days/g)).toHaveLength(1)
  })

  test("tools of namespaces keep their own names, and too many for one grammar are held by none", async () => {
    const { backend, ask } = await serve(call("+a\n"))
    const crowd = Array.from({ length: 20_000 }, (_, at) => ({ type: "function", name: `f${at}` }))
    const namespace = (name: string, tools: readonly object[]) => ({ type: "namespace", name, tools })
    const tools = [...RESPONSES, namespace("one", [...crowd, PATCH_FUNCTION]), namespace("two", [PATCH_FUNCTION])]
    const response = await ask("responses", { input: "Go", tools, max_output_tokens: 9 })
    expect(response.status).toBe(200)
    const [request] = backend.requests
    expect(request!.grammar).toBeUndefined()
    const offered = JSON.stringify(request!.messages)
    for (const name of ["f19999", "one__patch", "two__patch"]) expect(offered).toContain(name)
  })
})

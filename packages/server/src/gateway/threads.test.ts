import { createOpenAICompatibleBackend, createScriptedBackend, type Backend } from "@toolwright/backends"
import { Grammars } from "@toolwright/dialogue"
import { matchesGbnf } from "@toolwright/logits"
import { ToolRegistry } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { createApp, gatewayRoutes } from "../index.ts"
import { WIRES } from "./testing/wires.ts"

/** What of a reply reaches a client. */
interface Seen {
  status: number
  content: string
  calls: { name: string; arguments: unknown }[]
  finish: string
  notes: string[]
}

const tool = (name: string, properties: object, required: string[]): OpenAITool => ({
  type: "function",
  function: { name, description: `Does ${name}`, parameters: { type: "object", properties, required } },
})

async function ask(url: string, tools: object[], stream: boolean): Promise<Seen> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Do it" }], tools, stream }),
  })
  const seen: Seen = { status: response.status, content: "", calls: [], finish: "", notes: [] }
  const text = await response.text()
  const bodies = stream
    ? [...text.matchAll(/^data: (\{.*)$/gm)].map(([, data]) => JSON.parse(data!))
    : [JSON.parse(text)]
  for (const { choices, toolwright } of bodies) {
    seen.notes.push(...(toolwright?.notes ?? []).map(({ code }: { code: string }) => code))
    for (const { message, delta, finish_reason: finish } of choices ?? []) {
      const { content, tool_calls: calls = [] } = message ?? delta
      seen.content += content ?? ""
      for (const { function: body } of calls)
        seen.calls.push({ name: body.name, arguments: JSON.parse(body.arguments) })
      seen.finish = finish ?? seen.finish
    }
  }
  return seen
}

/** The gateways of one thread offer the same tools. */
const answering = { grammars: new Grammars() }

async function served(backend: Backend): Promise<string> {
  const options = { backend, answering }
  const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, options))
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces)
    const headers = { host: "localhost", "content-type": "application/json" }
    const answer = await app.request(`http://localhost${request.url!}`, { method: "POST", headers, body })
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
    response.end(Buffer.from(await answer.arrayBuffer()))
  })
  return listening(server)
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that reads its model's calls itself, and answers as it did in the thread. */
async function asInThread(status: number, message: object, finish: string): Promise<string> {
  const body = status === 200 ? { choices: [{ index: 0, message, finish_reason: finish }] } : { error: message }
  return listening(
    createServer((request, response) => {
      request.resume()
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    }),
  )
}

/** The same reply of the model, whole or in pieces of three, from a server that leaves its calls alone. */
async function throughUs(model: string, reply: string, tools: object[]): Promise<Seen> {
  const answers: Seen[] = []
  for (const chunks of [reply.length, 3])
    for (const stream of [false, true]) {
      const abilities = { nativeTools: false }
      const url = await served(createScriptedBackend({ model, abilities, chunks, steps: [{ reply }] }))
      answers.push(await ask(url, tools, stream))
    }
  for (const answer of answers)
    expect({ ...answer, content: answer.content.trim() }).toEqual({
      ...answers[0],
      content: answers[0]!.content.trim(),
    })
  return answers[0]!
}

describe("replies that servers lost, by the threads that tell of them", () => {
  test("ollama#17274: a call by the tool's description was an empty reply; it is text, once, with a note", async () => {
    const tools = [tool("apply_tags", { document_id: { type: "string" } }, ["document_id"])]
    const lost = await ask(await asInThread(200, { role: "assistant", content: "" }, "stop"), tools, false)
    expect([lost.content, lost.calls, lost.finish]).toEqual(["", [], "stop"])
    const reply = '<tool_call>\n{"name": "Tags a document", "arguments": {"document_id": "doc-17"}}\n</tool_call>'
    const seen = await throughUs("qwen2.5:7b-instruct", reply, tools)
    expect(seen).toMatchObject({ calls: [], finish: "stop", notes: ["unknown-tool"] })
    expect(seen.content.split("doc-17")).toHaveLength(2)
  })

  test("ollama#12884: arguments with something behind them failed the request; they are a call", async () => {
    const tools = [tool("write_file", { path: { type: "string" }, content: { type: "string" } }, ["path", "content"])]
    const failed = await ask(await asInThread(500, { message: "error parsing tool call" }, ""), tools, false)
    expect([failed.status, failed.content]).toEqual([500, ""])
    const args = { path: "data.ts", content: "/**\n * {\n */\nexport const items = [1]\n" }
    const reply = `<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>${JSON.stringify(args)}]<|call|>`
    const seen = await throughUs("gpt-oss:20b", reply, tools)
    expect(seen).toMatchObject({ status: 200, calls: [{ name: "write_file", arguments: args }], finish: "tool_calls" })
  })

  test("lmstudio#942: a call without its last brackets was left out; it is told", async () => {
    const tools = [tool("get_instructions", { data: { type: "object" } }, ["data"])]
    const lost = await ask(
      await asInThread(200, { role: "assistant", content: "", tool_calls: [] }, "stop"),
      tools,
      false,
    )
    expect([lost.content, lost.calls]).toEqual(["", []])
    const reply =
      "<|channel|>commentary to=functions.get_instructions " +
      '<|constrain|>json<|message|>{"data":{"resources":{"cpu":"100m"}}'
    const seen = await throughUs("openai/gpt-oss-20b", reply, tools)
    expect(JSON.stringify([seen.content, seen.calls]).split("100m")).toHaveLength(2)
    expect(seen.notes.length + seen.calls.length).toBeGreaterThan(0)
  })

  test("lmstudio#1528: of several calls of GLM all were lost behind the first; all are told", async () => {
    const tools = [tool("get_file_info", { path: { type: "string" } }, ["path"])]
    const call = (path: string) =>
      `<tool_call>get_file_info<arg_key>path</arg_key><arg_value>${path}</arg_value></tool_call>`
    const seen = await throughUs("glm-4.7-flash", `${call("1.jpg")}\n${call("2.jpg")}\n${call("3.jpg")}`, tools)
    const paths = ["1.jpg", "2.jpg", "3.jpg"]
    expect(seen.calls).toEqual(paths.map((path) => ({ name: "get_file_info", arguments: { path } })))
    expect([seen.content.trim(), seen.finish]).toEqual(["", "tool_calls"])
  })

  const weather = { name: "get_weather", arguments: { x: 42 } }
  const other = { name: "b", arguments: { y: 7 } }
  test.each([
    ["gigachat3-10b", `<|function_call|>${JSON.stringify(weather)}`, [weather]],
    ["granite-3.3-8b-instruct", `<|tool_call|>${JSON.stringify([weather, other])}`, [weather, other]],
  ])(
    "vllm#47907: a reply in one piece lost the calls of %s; how it is cut makes no difference",
    async (model, reply, calls) => {
      const number = { type: "integer" }
      const tools = [tool("get_weather", { x: number }, ["x"]), tool("b", { y: number }, ["y"])]
      expect(await throughUs(model, reply, tools)).toMatchObject({ calls, finish: "tool_calls" })
    },
  )

  test("ollama#16686: calls without their opening tag came as text; they are calls, behind words too", async () => {
    const tools = [tool("read_file", { path: { type: "string" } }, ["path"])]
    const call = (path: string) =>
      `<function=read_file>\n<parameter=path>\n${path}\n</parameter>\n</function>\n</tool_call>`
    const reply = `I read both.\n${call("a.ts")}\n${call("b.ts")}`
    const lost = await ask(await asInThread(200, { role: "assistant", content: reply }, "stop"), tools, false)
    expect([lost.calls, lost.finish]).toEqual([[], "stop"])
    const seen = await throughUs("qwen3-coder:30b", reply, tools)
    const paths = ["a.ts", "b.ts"]
    expect(seen).toMatchObject({
      calls: paths.map((path) => ({ name: "read_file", arguments: { path } })),
      finish: "tool_calls",
    })
    expect(seen.content.trim()).toBe("I read both.")
  })

  test("llama.cpp#24807: what its parser did not expect broke the stream off; it is a call", async () => {
    const tools = [tool("edit", { path: { type: "string" }, text: { type: "string" } }, ["path", "text"])]
    const message = { code: 500, message: "Failed to parse input at pos 42: <tool_call>", type: "server_error" }
    const failed = await ask(await asInThread(500, message, ""), tools, true)
    expect([failed.status, failed.calls]).toEqual([500, []])
    const text = "{\n  <b>\n}\n"
    const reply =
      `<tool_call>\n<function=edit>\n<parameter=text>\n${text}\n</parameter>\n<parameter=path>\na.html\n` +
      `</parameter>\n</function>\n</tool_call>`
    const seen = await throughUs("Qwen3.6-27B-Q8_0", reply, tools)
    expect(seen).toMatchObject({ calls: [{ name: "edit", arguments: { path: "a.html", text } }], finish: "tool_calls" })
  })

  test("vllm#51697: arguments came twice, by how the last piece was cut; a call has them once, or is text", async () => {
    const tools = [tool("run", { command: { type: "string" } }, ["command"])]
    const args = '{"command": "ls -la"}'
    const call = { id: "c1", type: "function", function: { name: "run", arguments: args + args } }
    const twice = await asInThread(200, { role: "assistant", content: null, tool_calls: [call] }, "tool_calls")
    await expect(ask(twice, tools, false)).rejects.toThrow("JSON")
    const behind = await served(createOpenAICompatibleBackend({ baseUrl: `${twice}/v1`, modelName: "qwen3-8b" }))
    const told = await ask(behind, tools, false)
    expect([told.status, told.calls, told.finish]).toEqual([200, [], "stop"])
    expect(told.content.split("ls -la")).toHaveLength(3)
    const seen = await throughUs("qwen3-8b", `<tool_call>\n{"name": "run", "arguments": ${args}}\n</tool_call>`, tools)
    expect(seen).toMatchObject({ calls: [{ name: "run", arguments: { command: "ls -la" } }], content: "" })
  })

  test("vllm#46149: a grammar of calls met the model's thoughts and failed; ours lets them stand", async () => {
    const tools = [tool("run", { command: { type: "string" } }, ["command"])]
    const reply =
      '<think>\nA listing.\n</think>\n\n<tool_call>\n{"name": "run", "arguments": {"command": "ls"}}\n</tool_call>'
    // Fails as the server does where the grammar that it was sent does not take the next token.
    const url = await listening(
      createServer(async (request, response) => {
        const pieces: Buffer[] = []
        for await (const piece of request) pieces.push(piece as Buffer)
        const { structured_outputs: form } = JSON.parse(Buffer.concat(pieces).toString()) as {
          structured_outputs?: { grammar?: string; structural_tag?: string }
        }
        // A structural tag holds nothing before its trigger, and what follows begins as one of its tags.
        const begins = Array.from(form?.structural_tag?.matchAll(/"begin":("(?:[^"\\]|\\.)*")/g) ?? [], ([, begin]) =>
          String(JSON.parse(begin!)),
        )
        const tagged = begins.some((begin) => begin.includes("run") && reply.includes(begin))
        const fits = tagged || (form?.grammar !== undefined && matchesGbnf(form.grammar, reply))
        const choices = [{ index: 0, message: { role: "assistant", content: reply }, finish_reason: "stop" }]
        const body = fits ? { choices } : { error: { message: "Failed to advance FSM for request" } }
        response.writeHead(fits ? 200 : 500, { "content-type": "application/json" }).end(JSON.stringify(body))
      }),
    )
    const lost = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ structured_outputs: { grammar: 'root ::= "<tool_call>" [^<]* "</tool_call>"' } }),
    })
    expect(lost.status).toBe(500)
    const abilities = { nativeTools: false }
    const settings = { baseUrl: `${url}/v1`, modelName: "qwen3-8b", dialect: "vllm", abilities } as const
    const seen = await ask(await served(createOpenAICompatibleBackend(settings)), tools, false)
    expect(seen).toMatchObject({ status: 200, calls: [{ name: "run", arguments: { command: "ls" } }] })
    expect(seen.content).not.toContain("A listing")
  })

  test("a reply that the server reads itself is not read again", async () => {
    const call = { id: "c1", type: "function", function: { name: "a", arguments: '{"text":"<tool_call>"}' } }
    const baseUrl = `${await asInThread(200, { role: "assistant", content: "", tool_calls: [call] }, "tool_calls")}/v1`
    const url = await served(createOpenAICompatibleBackend({ baseUrl, modelName: "qwen2.5-7b" }))
    const seen = await ask(url, [tool("a", { text: { type: "string" } }, ["text"])], false)
    expect(seen).toMatchObject({ calls: [{ name: "a", arguments: { text: "<tool_call>" } }], content: "" })
  })
})

const text = { type: "string" }
const search = tool("web_search", { query: text, count: { type: "integer" } }, ["query"])
const write = tool("write_file", { path: text, content: text }, ["path", "content"])
const HARMONY = "<|channel|>commentary to=functions.write_file <|constrain|>json<|message|>"

/** Of every thread another reply: what of it are calls, and what has to be told besides, once. */
const ALIKE: [thread: string, model: string, reply: string, calls: object[], told: string[]][] = [
  ["ollama#17274, no JSON", "qwen3:0.6b", "<tool_call>\nI search for rain in Ulm.\n</tool_call>", [], ["rain in Ulm"]],
  [
    "ollama#17274, no arguments' braces",
    "qwen2.5:0.5b",
    'Let me look.\n<tool_call>\n{"name": "web_search", "arguments": "rain in Ulm", }}\n</tool_call>',
    [],
    ["Let me look.", "rain in Ulm"],
  ],
  [
    "ollama#12884, words behind the arguments",
    "gpt-oss:120b",
    `${HARMONY}{"path": "a.md", "content": "one {two"} and that is all<|call|>`,
    [{ name: "write_file", arguments: { path: "a.md", content: "one {two" } }],
    ["one {two"],
  ],
  [
    "ollama#16686, a closing tag alone, thoughts before it",
    "qwen3-coder:30b",
    "<think>\nThey want rain.\n</think>\n<function=web_search>\n<parameter=query>\nrain\n</parameter>\n" +
      "<parameter=count>\n3\n</parameter>\n</function>\n</tool_call>",
    [{ name: "web_search", arguments: { query: "rain", count: 3 } }],
    ["They want rain."],
  ],
  [
    "llama.cpp#24807, words before the call and a tag in a value",
    "Qwen3.6-35B-A3B",
    "I write it.\n\n<tool_call>\n<function=write_file>\n<parameter=path>\na.xml\n</parameter>\n<parameter=content>\n" +
      "<parameter>x</parameter>\n</parameter>\n</function>\n</tool_call>",
    [{ name: "write_file", arguments: { path: "a.xml", content: "<parameter>x</parameter>" } }],
    ["I write it."],
  ],
  [
    "vllm#47907, two calls in one piece",
    "mistral-small-3.2",
    '[TOOL_CALLS][{"name": "web_search", "arguments": {"query": "a"}}, ' +
      '{"name": "web_search", "arguments": {"query": "b", "count": "2"}}]',
    [
      { name: "web_search", arguments: { query: "a" } },
      { name: "web_search", arguments: { query: "b", count: 2 } },
    ],
    [],
  ],
  [
    "vllm#51697, the last brace in a piece of its own",
    "kimi-k2",
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.web_search:0<|tool_call_argument_begin|>" +
      '{"query": "}"}<|tool_call_end|><|tool_calls_section_end|>',
    [{ name: "web_search", arguments: { query: "}" } }],
    [],
  ],
  [
    "vllm#46149, thoughts that end in the call's piece",
    "glm-5.2",
    "<think>One search.</think><tool_call>web_search<arg_key>query</arg_key><arg_value>rain</arg_value></tool_call>",
    [{ name: "web_search", arguments: { query: "rain" } }],
    ["One search."],
  ],
  [
    "lmstudio#942, brackets that are missing deep inside",
    "openai/gpt-oss-20b",
    `<|start|>assistant${HARMONY}{"path": "a.json", "content": "{\\"cpu\\": \\"250m\\"`,
    [],
    ["250m"],
  ],
  [
    "lmstudio#1528, several calls, one of no tool",
    "glm-4.6",
    ["web_search", "erase", "web_search"]
      .map((name, at) => `<tool_call>${name}<arg_key>query</arg_key><arg_value>q${at}</arg_value></tool_call>`)
      .join(""),
    [
      { name: "web_search", arguments: { query: "q0" } },
      { name: "web_search", arguments: { query: "q2" } },
    ],
    ["q0", "q1", "q2"],
  ],
]

describe.each(Object.entries(WIRES))("replies like those of the threads, in the wire %s", (_, client) => {
  test.each(ALIKE)("%s: calls are calls, and all else is told once", async (_thread, model, reply, calls, told) => {
    for (const chunks of [1, 4, reply.length])
      for (const stream of [true, false]) {
        const backend = createScriptedBackend({ model, abilities: { nativeTools: false }, chunks, steps: [{ reply }] })
        const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
        const asked = { model: "m", stream, ...client.body({ tools: [search, write] }) }
        const headers = { host: "localhost", "content-type": "application/json" }
        const request = { method: "POST", headers, body: JSON.stringify(asked) }
        const seen = client.read(await (await app.request(`http://localhost${client.path}`, request)).text(), stream)
        const { text: said, reasoning } = seen
        expect(seen.calls.map(({ name, arguments: args }) => ({ name, arguments: args }))).toEqual(calls)
        for (const one of told) {
          const parts = `${said}\n${reasoning}\n${JSON.stringify(seen.calls)}`.split(one)
          expect(parts.length, `${one} in ${JSON.stringify(seen)}`).toBe(2)
        }
        expect(seen.finish).toBe(client.reasons[calls.length > 0 ? "tool-calls" : "stop"])
      }
  })
})

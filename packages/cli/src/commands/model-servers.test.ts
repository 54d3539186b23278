import { backendFor, defaultConfiguration } from "@toolwright/runtime"
import { createApp, gatewayRoutes } from "@toolwright/server"
import { matchesGbnf } from "@toolwright/logits"
import { ToolRegistry, type RunEvent } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  MODEL_SERVERS,
  startModelServer,
  tokensOf,
  type Body,
  type ModelServerKind,
  type Said,
} from "../testing/model-servers.ts"
import { folderWith } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"

const ARGUMENTS = { path: "note.txt", content: "Grüße, „Welt“ {}\n" }
const CALL = { name: "file_write", arguments: ARGUMENTS }
const ANSWERS: readonly Said[] = [{ thought: "A file.", text: "I write it.", call: CALL }, { text: "It is written." }]

/** Where the API of a server begins, and the backend for it. */
function backendOf(kind: ModelServerKind, url: string) {
  if (kind === "vllm" || kind === "sglang") return { backend: "openai-compatible" as const, baseUrl: `${url}/v1` }
  return { backend: kind, baseUrl: kind === "openai-responses" ? `${url}/v1` : url }
}

async function run(kind: ModelServerKind, answers: readonly Said[], ...more: string[]) {
  const server = await startModelServer(kind, answers)
  const cwd = folderWith({ "red.gif": "GIF89a;" })
  const only = more.includes("--only-tools") ? [] : ["--only-tools", "file"]
  const args = ["run", "write a note", "--model", "m-7b", ...only, "--json"]
  const env = { XDG_STATE_HOME: join(cwd, "state"), TOOLWRIGHT_API_KEY: "secret-1" }
  const { backend, baseUrl } = backendOf(kind, server.baseUrl)
  const finished = await here([...args, "--backend", backend, "--base-url", baseUrl, ...more], { cwd, env })
  const events = finished.stdout.split("\n").flatMap((text) => (text === "" ? [] : [JSON.parse(text) as RunEvent]))
  return { ...finished, ...server, cwd, events }
}

describe.each(MODEL_SERVERS)("a run with %s", (kind) => {
  test("calls a tool, whose work is on disk, and tells the result", async () => {
    const { code, cwd, asked, events, stderr } = await run(kind, ANSWERS)
    expect([code, stderr]).toEqual([0, expect.any(String)])
    expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe(ARGUMENTS.content)
    expect(asked).toHaveLength(2)
    expect(asked[1]!.text).toContain("note.txt")
    expect(events.findLast(({ type }) => type === "run-end")).toMatchObject({
      summary: { success: true, inputTokens: 22, outputTokens: 10 },
    })
    const thoughts = events.flatMap((event) => (event.type === "reasoning-delta" ? [event.text] : [])).join("")
    expect(thoughts).toBe("A file.")
    // What a model thought is not sent back to it.
    expect(asked[1]!.text).not.toContain("A file.")
  })

  test("that fails says so, with the address and without the key", async () => {
    const { code, stderr, stdout } = await run(kind, [{ status: 401 }])
    expect(code).not.toBe(0)
    expect(stderr + stdout).toContain("MODEL_UNAUTHORIZED")
    expect(stderr + stdout).not.toContain("secret-1")
  })
})

test("Ollama gets the model's own window with every request", async () => {
  const { asked } = await run("ollama", ANSWERS)
  expect(asked.map(({ body }) => (body.options as Body).num_ctx)).toEqual([24_576, 24_576])
  expect(asked.map(({ body }) => body.truncate)).toEqual([false, false])
  const set = await run("ollama", [{ text: "No." }], "--context-tokens", "4096")
  expect(set.asked[0]!.body.options).toMatchObject({ num_ctx: 4096 })
})

test("llama.cpp gets a prompt by its own template, and a grammar that begins with a call", async () => {
  const { asked } = await run("llama-server", ANSWERS)
  const { prompt, grammar, grammar_lazy: lazy, grammar_triggers: triggers, preserved_tokens: kept } = asked[0]!.body
  expect(prompt).toMatch(/^<\|im_start\|>system\n[\s\S]*"file_write"[\s\S]*<\|im_end\|>\n<\|im_start\|>assistant$/)
  expect([lazy, triggers]).toEqual([true, [{ type: 1, value: "<tool_call>" }]])
  expect(kept).toContain("<tool_call>")
  const text = (args: object): string =>
    formatterById("hermes").printCalls([{ id: "call_1", name: "file_write", arguments: { ...args } }])
  expect(matchesGbnf(String(grammar), text(ARGUMENTS))).toBe(true)
  expect(matchesGbnf(String(grammar), text({ ...ARGUMENTS, path: 7 }))).toBe(false)
})

const HERMES = ["--native-tools", "false", "--format", "hermes"]
const written = (args: object): string =>
  formatterById("hermes").printCalls([{ id: "call_1", name: "file_write", arguments: { ...args } }])

test.each([
  ["vllm", (body: Body) => JSON.parse(String((body.structured_outputs as Body).structural_tag)) as Body],
  ["sglang", (body: Body) => body.response_format as Body],
] as const)("%s gets structural tags: text is free until a call begins, and a call is held", async (kind, tagOf) => {
  const { asked, cwd, code } = await run(kind, [{ text: written(ARGUMENTS) }, { text: "Done." }], ...HERMES)
  expect(code).toBe(0)
  expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe(ARGUMENTS.content)
  const { type, format } = tagOf(asked[0]!.body) as { type: string; format: { elements: Body[] } }
  expect(type).toBe("structural_tag")
  expect(JSON.stringify(format)).toContain('"triggers":["<tool_call>"]')
  expect(JSON.stringify(format)).toContain('{\\"name\\": \\"file_write\\"')
  for (const { body } of asked) expect(body).not.toHaveProperty("grammar")
})

test.each(["vllm", "sglang"] as const)("%s that takes no structural tags gets a grammar instead", async (kind) => {
  const message = "unsupported field: response_format"
  const answers = [{ status: 400, message }, { text: written(ARGUMENTS) }, { text: "Done." }]
  const { asked, cwd, code, events } = await run(kind, answers, ...HERMES)
  expect(code).toBe(0)
  expect(readFileSync(join(cwd, "note.txt"), "utf8")).toBe(ARGUMENTS.content)
  const grammars = asked.map(({ body }) => String(body.ebnf ?? (body.structured_outputs as Body | undefined)?.grammar))
  expect(grammars.slice(1).map((grammar) => matchesGbnf(grammar, written(ARGUMENTS)))).toEqual([true, true])
  expect(matchesGbnf(grammars[1]!, written({ ...ARGUMENTS, path: 7 }))).toBe(false)
  const told = events.filter(({ type }) => type === "delivery-fallback")
  expect(JSON.stringify(told)).toContain("Instead of structural tags, a grammar holds the calls.")
})

test("a picture reaches each server in its own form, or the run says that it cannot", async () => {
  const data = Buffer.from("GIF89a;").toString("base64")
  for (const kind of MODEL_SERVERS) {
    const { asked, code, stderr } = await run(kind, [{ text: "Red." }], "--image", "red.gif")
    expect([kind, code, stderr.includes("UNSUPPORTED")]).toEqual([kind, 0, false])
    expect(asked[0]!.text).toContain(data)
  }
})

describe.each(MODEL_SERVERS)("the gateway in front of %s", (kind) => {
  const tools = [
    {
      type: "function",
      function: {
        name: "file_write",
        description: "Writes",
        parameters: {
          type: "object",
          properties: { path: { type: "string" }, content: { type: "string" } },
        },
      },
    },
  ]

  async function gateway(answers: readonly Said[]) {
    const server = await startModelServer(kind, answers)
    const model = { ...backendOf(kind, server.baseUrl), name: "m-7b" }
    const backend = await backendFor(defaultConfiguration({ model }))
    const app = createApp({ tools: new ToolRegistry() }, (application) => gatewayRoutes(application, { backend }))
    const ask = (body: object, signal?: AbortSignal) =>
      app.request("http://localhost/v1/chat/completions", {
        method: "POST",
        headers: { host: "localhost", "content-type": "application/json" },
        body: JSON.stringify({ model: "m-7b", messages: [{ role: "user", content: "Write" }], tools, ...body }),
        ...(signal === undefined ? {} : { signal }),
      })
    return { ...server, ask }
  }

  test("passes calls, thoughts, counts, limits and leaving on", async () => {
    const { ask, left } = await gateway([ANSWERS[0]!, { status: 429 }, { text: "On and on", endless: true }])
    const whole = (await (await ask({})).json()) as { choices: { message: Body; finish_reason: string }[]; usage: Body }
    const [{ message, finish_reason: reason } = { message: {} as Body, finish_reason: "" }] = whole.choices
    expect(message).toMatchObject({
      content: expect.stringContaining("I write it.") as string,
      reasoning_content: "A file.",
      tool_calls: [{ function: { name: "file_write", arguments: JSON.stringify(ARGUMENTS) } }],
    })
    expect([reason, whole.usage]).toMatchObject(["tool_calls", { prompt_tokens: 11, completion_tokens: 5 }])
    const busy = await ask({})
    expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "7"])
    const leaving = new AbortController()
    const stream = await ask({ stream: true }, leaving.signal)
    await stream.body!.getReader().read()
    leaving.abort()
    await left
  })
})

test.each(MODEL_SERVERS)("the doctor examines %s by its own API", async (kind) => {
  const server = await startModelServer(kind, ({ text, body }) => {
    const { grammar, ebnf, structured_outputs: outputs, response_format: form } = body
    if (JSON.stringify([grammar, ebnf, outputs, form]).includes("xylophone")) return { text: "xylophone" }
    const [city = ""] = /Zürich|Lisbon/.exec(text) ?? []
    const call = { name: "get_temperature", arguments: { city } }
    if (body.tools !== undefined) return { call }
    return kind === "llama-server" ? { call } : { text: JSON.stringify({ tool: call.name, args: call.arguments }) }
  })
  const { backend, baseUrl } = backendOf(kind, server.baseUrl)
  const cwd = folderWith()
  const args = ["doctor", "m-7b", "--backend", backend, "--base-url", baseUrl, "--tries", "2", "--json"]
  const { code, stdout } = await here(args, { cwd, env: { XDG_STATE_HOME: join(cwd, "state") } })
  const all = { called: 2, of: 2 }
  expect([code, JSON.parse(stdout)]).toMatchObject([
    0,
    {
      backend,
      usable: true,
      text: all,
      native: kind === "llama-server" ? { called: 0, of: 0 } : all,
      grammar: ["llama-server", "vllm", "sglang"].includes(kind) ? "held" : "not offered",
      ...(kind === "vllm" || kind === "sglang" ? { structuralTags: "held" } : {}),
    },
  ])
})

describe.each(["llama-server", "vllm", "sglang"] as const)("with %s and --tool-bias", (kind) => {
  const more = ["--tool-bias", "--only-tools", "search"]
  const biasOf = ({ body }: { body: Body }) => (body as { logit_bias?: object }).logit_bias
  /** The token in which a name parts from the others. */
  const token = (text: string) => tokensOf(text).join()

  test("a tool called more than twice is made less likely by the server's own tokens, which is on record", async () => {
    const calls = ["a", "b", "c", "d"].map((pattern) => ({ call: { name: "search_grep", arguments: { pattern } } }))
    const { asked, events, cwd } = await run(kind, [...calls, { text: "Done." }], ...more)
    expect(asked.map(biasOf)).toEqual([
      undefined,
      undefined,
      undefined,
      { [token("_grep")]: -1 },
      { [token("_grep")]: -2 },
    ])
    const told = events.flatMap((event) => (event.type === "request" ? [event.toolBias] : []))
    expect(told.slice(2)).toEqual([undefined, { search_grep: -1 }, { search_grep: -2 }])
    const shown = await here(["runs", "show", "latest"], { cwd, env: { XDG_STATE_HOME: join(cwd, "state") } })
    expect(shown.stdout).toContain("names of tools weighed: search_grep -2")
  })

  test("a denied tool stays in the prompt, and the tokens of its name are discouraged", async () => {
    const { asked } = await run(kind, [{ text: "Done." }], ...more, "--deny-tool", "search_find_files")
    expect(biasOf(asked[0]!)).toEqual({ [token("_files")]: -8 })
    expect(asked[0]!.text).toContain("search_find_files")
  })
})

test("a model that does not tell its tokens is not weighed, and that is said", async () => {
  const { asked, stderr, code } = await run("ollama", [{ text: "Done." }], "--tool-bias")
  expect([code, stderr]).toEqual([0, expect.stringContaining("agent.toolBias changes nothing")])
  expect(asked[0]!.text).not.toContain("logit_bias")
})

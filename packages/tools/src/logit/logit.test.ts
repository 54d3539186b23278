import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createOpenAICompatibleBackend } from "@toolwright/backends"
import { createGbnfMatcher, createRandom } from "@toolwright/logits"
import { defineTool, executeCall, ToolRegistry, type JsonObject } from "@toolwright/toolbox"
import { describe, expect, it, onTestFinished } from "vitest"
import type { LogitGenerator, LogitRequest } from "./generator.ts"
import { createLogitTool, type LogitToolConfig } from "./logit.ts"

/** Writes at random what the grammar allows; without one, what it is told to. */
function randomWriter(free = "not JSON", abilities = { grammar: true, jsonSchema: true }) {
  const requests: LogitRequest[] = []
  const random = createRandom(7)
  const generator: LogitGenerator = {
    abilities,
    async *infer(request) {
      requests.push(request)
      yield { type: "text-delta", text: request.grammar === undefined ? free : walk(request.grammar, random) }
      yield { type: "end", finishReason: "stop" }
    },
  }
  return { generator, requests }
}

function walk(grammar: string, random: () => number): string {
  const matcher = createGbnfMatcher(grammar)
  const characters = [
    '"',
    "}",
    "]",
    ",",
    ":",
    "{",
    "[",
    ..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789-. ",
  ]
  let text = ""
  while (!(matcher.complete && (!matcher.open || random() < 0.5))) {
    const allowed = characters.filter((character) => matcher.allowsBytes(new TextEncoder().encode(character)))
    const closing = allowed.filter((character) => '"}],:'.includes(character))
    const choices = closing.length > 0 && random() < 0.7 ? closing : allowed
    const next = choices[Math.floor(random() * choices.length)]
    if (next === undefined) throw new Error(`nothing can follow ${text}`)
    matcher.acceptText(next)
    text += next
  }
  return text
}

async function call(args: JsonObject, config: LogitToolConfig = {}) {
  const registry = new ToolRegistry()
  registry.register(createLogitTool(config))
  return executeCall(registry, { name: "logit", arguments: args })
}

const person = {
  type: "object",
  properties: { name: { type: "string", maxLength: 8 }, age: { type: "integer", minimum: 0, maximum: 120 } },
  required: ["name", "age"],
  additionalProperties: false,
}

describe("logit", () => {
  it("lists the presets without a model", async () => {
    const { success, data, output } = await call({ operation: "list_presets" })
    const { presets } = data as { presets: { name: string }[] }
    expect(success).toBe(true)
    expect(presets.map(({ name }) => name)).toEqual([
      "tool_call",
      "json_strict",
      "json_loose",
      "safe_chat",
      "code_generation",
      "creative",
      "deterministic",
    ])
    expect(output).toContain(
      "json_strict: A JSON object, close to the likeliest one (temperature 0.1, top_k 40, top_p 0.9, min_p 0.05, " +
        "grammar: json-object)",
    )
    expect(await call({ operation: "generate", prompt: "x" })).toMatchObject({
      success: false,
      error: { code: "NO_MODEL" },
    })
  })

  it("makes its model at the first use", async () => {
    let made = 0
    const config = { generator: async () => (made++, randomWriter("hello").generator) }
    await call({ operation: "list_presets" }, config)
    expect(made).toBe(0)
    expect((await call({ operation: "generate", prompt: "Hi" }, config)).output).toBe("hello")
    expect(made).toBe(1)
  })

  it("generates text with a preset and settings over it", async () => {
    const { generator, requests } = randomWriter("once upon a time")
    const { data } = await call(
      {
        operation: "generate",
        prompt: "Tell a story",
        system: "Be brief",
        preset: "creative",
        sampler: { temperature: 1, max_tokens: 50 },
      },
      { generator },
    )
    expect(data).toMatchObject({
      text: "once upon a time",
      preset: "creative",
      finish_reason: "stop",
      attempts: [{ constraint: "none" }],
    })
    expect(requests).toEqual([
      {
        messages: [
          { role: "system", content: "Be brief" },
          { role: "user", content: "Tell a story" },
        ],
        sampling: { temperature: 1, topK: 100, maxTokens: 50 },
      },
    ])
  })

  it("holds text to a grammar, and in hybrid mode does without if it must", async () => {
    const { generator } = randomWriter("maybe")
    const grammar = 'root ::= "yes" | "no"'
    expect((await call({ operation: "generate", prompt: "?", grammar }, { generator })).output).toMatch(/^(yes|no)$/)
    const refusing: LogitGenerator = {
      ...generator,
      infer(request, options) {
        if (request.grammar !== undefined) throw new Error("no grammars here")
        return generator.infer(request, options)
      },
    }
    const { data } = await call(
      { operation: "generate", prompt: "?", grammar, mode: "hybrid" },
      { generator: refusing },
    )
    expect(data).toMatchObject({
      text: "maybe",
      attempts: [{ constraint: "grammar", error: "no grammars here" }, { constraint: "none" }],
    })
  })

  it("filters text at the preset's level", async () => {
    const { generator } = randomWriter("the key is AKIAIOSFODNN7EXAMPLE, keep it")
    const { data } = await call({ operation: "generate", prompt: "?", preset: "safe_chat" }, { generator })
    expect(data).toMatchObject({
      text: "the key is [removed], keep it",
      safety: { level: "standard", findings: [{ category: "credentials", rule: "aws-access-key" }] },
    })
  })

  it("generates values that are valid by a schema", async () => {
    const { generator, requests } = randomWriter()
    for (let round = 0; round < 20; round++) {
      const { success, data } = await call(
        { operation: "generate_structured", prompt: "Who?", schema: person },
        { generator },
      )
      const { value } = data as { value: { name: string; age: number } }
      expect([success, typeof value.name, value.age >= 0 && value.age <= 120]).toEqual([true, "string", true])
    }
    expect(requests[0]).toMatchObject({
      sampling: { temperature: 0.1, topK: 40, topP: 0.9, minP: 0.05 },
      grammar: expect.stringContaining("root ::="),
    })
    expect(requests.some(({ grammar, jsonSchema }) => grammar !== undefined && jsonSchema !== undefined)).toBe(false)
  })

  it("hands over the schema where no grammar is taken, and tells when the answer is not valid", async () => {
    const good = randomWriter('{"name":"Ada","age":36}', { grammar: false, jsonSchema: true })
    expect((await call({ operation: "generate_structured", prompt: "Who?", schema: person }, good)).data).toMatchObject(
      { value: { name: "Ada", age: 36 }, attempts: [{ constraint: "schema" }] },
    )
    expect(good.requests[0]).toMatchObject({ jsonSchema: person })
    const bad = randomWriter('{"name":"Ada","age":"?"}', { grammar: false, jsonSchema: false })
    expect((await call({ operation: "generate_structured", prompt: "Who?", schema: person }, bad)).error).toMatchObject(
      { code: "INVALID_OUTPUT", retryable: true, message: expect.stringContaining("/age must be integer") },
    )
    expect(bad.requests[0]!.messages[0]!.content).toContain('"maxLength":8')
  })

  it("generates a call of one of the tools and of no other", async () => {
    const { generator, requests } = randomWriter()
    const known = defineTool({
      name: "file_search",
      description: "Finds files",
      parameters: {
        type: "object",
        properties: { query: { type: "string", maxLength: 9 } },
        required: ["query"],
        additionalProperties: false,
      },
      execute: () => "",
    })
    const names = new Set<string>()
    for (let round = 0; round < 20; round++) {
      const { data } = await call(
        { operation: "generate_tool_call", prompt: "Do", tools: ["file_search", { name: "file" }] },
        { generator, tools: () => [known] },
      )
      const { name, args } = data as { name: string; args: JsonObject }
      names.add(name)
      expect(Object.keys(args)).toEqual(name === "file" ? [] : ["query"])
    }
    expect([...names].sort()).toEqual(["file", "file_search"])
    expect(requests[0]!.sampling).toEqual({ temperature: 0, topK: 1 })
    expect(
      (
        await call(
          { operation: "generate_tool_call", prompt: "Do", tools: ["other"] },
          { generator, tools: () => [known] },
        )
      ).error,
    ).toMatchObject({ code: "UNKNOWN_TOOL", hint: expect.stringContaining("file_search") })
  })

  it("reports the pass rate of a configuration", async () => {
    const { generator, requests } = randomWriter()
    const { data, output } = await call(
      { operation: "test_config", prompt: "?", schema: person, iterations: 4, sampler: { seed: 10 } },
      { generator },
    )
    expect(data).toMatchObject({ iterations: 4, passed: 4, pass_rate: 1, failures: [] })
    expect(requests.map(({ sampling }) => sampling?.seed)).toEqual([10, 11, 12, 13])
    expect(output).toMatch(/^4 of 4 answers passed/)
    const failing = await call(
      { operation: "test_config", prompt: "?", contains: "42", iterations: 3 },
      randomWriter("41"),
    )
    expect(failing.data).toMatchObject({
      passed: 0,
      pass_rate: 0,
      distinct: 1,
      failures: [{ iteration: 1, reason: "it does not contain '42'", text: "41" }, {}, {}],
    })
  })

  it("says what is wrong with a call", async () => {
    const { generator } = randomWriter()
    expect((await call({ operation: "generate", prompt: "?", preset: "none" }, { generator })).error).toMatchObject({
      code: "UNKNOWN_PRESET",
      hint: expect.stringContaining("creative"),
    })
    expect(
      (await call({ operation: "generate", prompt: "?", sampler: { temperature: 3 } }, { generator })).error?.code,
    ).toBe("INVALID_ARGUMENTS")
    expect((await call({ operation: "generate", prompt: "?", sampler: { top_p: 0 } }, { generator })).error?.code).toBe(
      "INVALID_SAMPLER",
    )
    expect((await call({ operation: "guess", prompt: "?" }, { generator })).error?.code).toBe("INVALID_ARGUMENTS")
  })

  it("sends its settings to a llama.cpp server by the server's names", async () => {
    const bodies: JsonObject[] = []
    const server = createServer((incoming, response) => {
      let text = ""
      incoming.on("data", (piece: Buffer) => (text += piece.toString()))
      incoming.on("end", () => {
        bodies.push(JSON.parse(text) as JsonObject)
        response.writeHead(200, { "content-type": "application/json" })
        response.end(
          JSON.stringify({ choices: [{ message: { role: "assistant", content: "ok" }, finish_reason: "stop" }] }),
        )
      })
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
    const generator = createOpenAICompatibleBackend({ baseUrl, modelName: "m", dialect: "llama.cpp", stream: false })
    const { output } = await call(
      {
        operation: "generate",
        prompt: "?",
        preset: "code_generation",
        sampler: { temperature: 0.3, repetition_window: 128, mirostat: 2, mirostat_tau: 4, seed: 5 },
      },
      { generator },
    )
    expect(output).toBe("ok")
    expect(bodies[0]).toMatchObject({
      temperature: 0.3,
      top_k: 50,
      repeat_penalty: 1.1,
      repeat_last_n: 128,
      mirostat: 2,
      mirostat_tau: 4,
      seed: 5,
    })
    // A server without a word for a setting answers without it, and that is told: the setting was not tried.
    const plain = createOpenAICompatibleBackend({ baseUrl, modelName: "m", dialect: "generic", stream: false })
    const tried = await call(
      { operation: "test_config", prompt: "?", preset: "creative", iterations: 1 },
      { generator: plain },
    )
    expect(tried).toMatchObject({ data: { passed: 1, left_out: ["top_k"] }, output: expect.stringContaining("top_k") })
  })
})

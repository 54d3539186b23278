import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createMaskEngine, createMatcher, grammarToGbnf, type Grammar } from "@toolwright/logits"
import { defineTool, validate, type ToolDefinition } from "@toolwright/toolbox"
import { formatterById, grammarFor, listFormats } from "@toolwright/toolformat"
import { LLAMA } from "../testing/engine-here.ts"
import { openTinyModel, writeAll } from "../testing/tiny-model.ts"
import type { LlamaEngine } from "./engine.ts"
import { generateMasked } from "./masked.ts"

/** `TOOLWRIGHT_CONSTRAINED_RUNS=500` for the whole proof; a sample of it otherwise. */
const RUNS = Number(process.env["TOOLWRIGHT_CONSTRAINED_RUNS"] ?? 6)

const run = () => ""
const weather = defineTool({
  name: "get_weather",
  description: "Weather of a city",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string", minLength: 1, maxLength: 40 },
      days: { type: "integer", minimum: 1, maximum: 14 },
      unit: { enum: ["celsius", "fahrenheit"] },
      tags: { type: "array", items: { type: "string", maxLength: 10 }, maxItems: 3 },
    },
    required: ["city"],
    additionalProperties: false,
  },
  execute: run,
})
const search = defineTool({
  name: "file_search",
  description: "Finds files",
  parameters: {
    type: "object",
    properties: {
      query: { type: "string", maxLength: 30 },
      limit: { type: "number", minimum: 0, maximum: 10 },
      options: {
        type: "object",
        properties: { hidden: { type: "boolean" }, kind: { type: ["string", "null"], pattern: "^[a-z]{1,5}$" } },
        required: ["hidden"],
        additionalProperties: false,
      },
    },
    required: ["query"],
    additionalProperties: false,
  },
  execute: run,
})
const file = defineTool({
  name: "file",
  description: "Reads a file",
  parameters: {
    type: "object",
    properties: { path: { type: "string", maxLength: 25 } },
    required: ["path"],
    additionalProperties: false,
  },
  execute: run,
})
const tools = [weather, search, file]

/**
 * One family for each way of writing calls: JSON in tags, bare, in a list, the generic one, tags, Python, Gemma's own.
 */
const FAMILIES = ["hermes", "llama3", "mistral", "generic", "qwen3-xml", "pythonic", "gemma4"]
const oneCall = (format: string, offered: readonly ToolDefinition[]): Grammar =>
  grammarFor(format, offered, { mode: "call", parallel: false })

let engine: LlamaEngine
beforeAll(async () => {
  engine = await openTinyModel()
})
afterAll(() => engine[Symbol.asyncDispose]())

/**
 * What is wrong with a reply, if anything: it must be one call of an offered tool with valid arguments and nothing
 * else.
 */
async function faultOf(format: string, text: string, offered: readonly ToolDefinition[]): Promise<string | undefined> {
  const { calls, problems, content } = formatterById(format).parse(text, { tools: offered })
  const [call] = calls
  if (call === undefined || calls.length > 1 || problems.length > 0 || content.trim() !== "")
    return `not one clean call: ${JSON.stringify({ calls, problems, content })}`
  const tool = offered.find(({ name }) => name === call.name)
  if (tool === undefined) return `unknown tool ${call.name}`
  const errors = await validate(tool.parameters, call.arguments)
  return errors.length === 0 ? undefined : JSON.stringify(errors)
}

describe.each(FAMILIES)("a random model held to %s calls", (format) => {
  const timeout = 2000 * Math.max(15, RUNS)

  it.skipIf(!LLAMA.installed)(
    "writes nothing else under the engine's grammar",
    async () => {
      const gbnf = grammarToGbnf(oneCall(format, tools))
      const matcher = createMatcher(oneCall(format, tools))
      const faults: string[] = []
      const names = new Set<string>()
      for (let seed = 0; seed < RUNS; seed++) {
        const text = await writeAll(engine.generate("call: ", { grammar: gbnf, sampling: { seed, temperature: 1 } }))
        matcher.reset()
        const fault =
          (await faultOf(format, text, tools)) ??
          (matcher.accept(text) && matcher.isComplete() ? undefined : "the matcher refuses it")
        if (fault !== undefined) faults.push(`${seed}: ${text}\n${fault}`)
        for (const tool of tools) if (text.includes(tool.name)) names.add(tool.name)
      }
      expect(faults).toEqual([])
      expect(names.size).toBeGreaterThan(1)
    },
    timeout,
  )

  it(
    "writes nothing else under our own masks",
    async () => {
      const masks = createMaskEngine(oneCall(format, tools), engine.tokenizer)
      const faults: string[] = []
      for (let seed = 0; seed < RUNS; seed++) {
        const result = await generateMasked(engine, "call: ", {
          constraint: masks.matcher(),
          sampler: { seed, temperature: 1 },
          maxTokens: 1500,
        })
        const fault = result.finishReason === "stop" ? await faultOf(format, result.text, tools) : "no end"
        if (fault !== undefined) faults.push(`${seed}: ${result.text}\n${fault}`)
      }
      expect(faults).toEqual([])
    },
    timeout,
  )

  it(
    "writes hardly ever one without",
    async () => {
      let calls = 0
      for (let seed = 0; seed < RUNS; seed++) {
        const text = await writeAll(
          engine.generate("call: ", { sampling: { seed, temperature: 1, maxTokens: RUNS > 12 ? 200 : 40 } }),
        )
        if ((await faultOf(format, text, tools)) === undefined) calls++
      }
      expect(calls).toBeLessThanOrEqual(RUNS / 100)
    },
    timeout,
  )

  it("cannot call a tool that has been taken away", { timeout }, async () => {
    const left = [weather, file]
    const gbnf = grammarToGbnf(oneCall(format, left))
    for (let seed = 0; seed < RUNS; seed++) {
      const text = await writeAll(engine.generate("call: ", { grammar: gbnf, sampling: { seed, temperature: 1 } }))
      expect(await faultOf(format, text, left)).toBeUndefined()
    }
    const after = createMatcher(oneCall(format, left))
    const callOfIt = await writeAll(
      engine.generate("call: ", {
        grammar: grammarToGbnf(oneCall(format, [search])),
        sampling: { seed: 1, temperature: 1 },
      }),
    )
    expect(await faultOf(format, callOfIt, tools)).toBeUndefined()
    expect(after.accept(callOfIt)).toBe(false)
  })
})

/**
 * Formats whose nested or counted tags a grammar holds to names and types alone; required and counts are left to
 * validation.
 */
const LOOSE = new Set(["kimi-k3", "minimax-m3"])

describe.skipIf(RUNS < 100)(
  "a random model held to any format's calls (skipped unless TOOLWRIGHT_CONSTRAINED_RUNS is 100 or more: it takes a minute)",
  () => {
    const formats = listFormats()
      .filter((format) => format.apiOnly === undefined)
      .map(({ id }) => id)

    it.each(formats)("%s", async (format) => {
      const gbnf = grammarToGbnf(oneCall(format, tools))
      const matcher = createMatcher(oneCall(format, tools))
      for (let seed = 0; seed < 10; seed++) {
        const text = await writeAll(engine.generate("call: ", { grammar: gbnf, sampling: { seed, temperature: 1 } }))
        matcher.reset()
        expect([text, matcher.accept(text) && matcher.isComplete()]).toEqual([text, true])
        const fault = await faultOf(format, text, tools)
        if (!LOOSE.has(format)) expect([text, fault]).toEqual([text, undefined])
      }
    })
  },
)

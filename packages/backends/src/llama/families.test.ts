import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createMaskEngine, createMatcher } from "@toolwright/logits"
import { defineTool, validate, type ToolDefinition } from "@toolwright/toolbox"
import { formatterById } from "@toolwright/toolformat"
import { FAMILY_GRAMMARS, gbnfOf } from "../testing/family-grammars.ts"
import { openTinyModel, writeAll } from "../testing/tiny-model.ts"
import type { LlamaEngine } from "./engine.ts"
import { generateMasked } from "./masked.ts"

/** `TOOLWRIGHT_CONSTRAINED_RUNS=500` for the whole proof; a sample of it otherwise. */
const RUNS = Number(process.env["TOOLWRIGHT_CONSTRAINED_RUNS"] ?? 12)

const run = () => ""
const weather = defineTool({
  name: "get_weather",
  description: "Weather of a city",
  input: {
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
  run,
})
const search = defineTool({
  name: "file_search",
  description: "Finds files",
  input: {
    type: "object",
    properties: {
      query: { type: "string", maxLength: 30 },
      limit: { type: "number", minimum: 0, maximum: 10 },
      options: { type: "object", properties: { hidden: { type: "boolean" }, kind: { type: ["string", "null"], pattern: "^[a-z]{1,5}$" } }, required: ["hidden"], additionalProperties: false },
    },
    required: ["query"],
    additionalProperties: false,
  },
  run,
})
const file = defineTool({ name: "file", description: "Reads a file", input: { type: "object", properties: { path: { type: "string", maxLength: 25 } }, required: ["path"], additionalProperties: false }, run })
const tools = [weather, search, file]

let engine: LlamaEngine
beforeAll(async () => {
  engine = await openTinyModel()
})
afterAll(() => engine[Symbol.asyncDispose]())

/** What is wrong with a reply, if anything: it must be one call of an offered tool with valid arguments and nothing else. */
async function faultOf(format: string, text: string, offered: readonly ToolDefinition[]): Promise<string | undefined> {
  const { calls, problems, content } = formatterById(format).parse(text, { tools: offered })
  const [call] = calls
  if (call === undefined || calls.length > 1 || problems.length > 0 || content.trim() !== "") return `not one clean call: ${JSON.stringify({ calls, problems, content })}`
  const tool = offered.find(({ name }) => name === call.name)
  if (tool === undefined) return `unknown tool ${call.name}`
  const errors = await validate(tool.schema, call.args)
  return errors.length === 0 ? undefined : JSON.stringify(errors)
}

describe.each(FAMILY_GRAMMARS)("a random model held to $format calls", (family) => {
  const timeout = 2000 * Math.max(15, RUNS)

  it(
    "writes nothing else under the engine's grammar",
    async () => {
      const gbnf = gbnfOf(family, tools)
      const matcher = createMatcher(family.grammar(tools))
      const faults: string[] = []
      const names = new Set<string>()
      for (let seed = 0; seed < RUNS; seed++) {
        const text = await writeAll(engine.generate("call: ", { grammar: gbnf, sampling: { seed, temperature: 1 } }))
        matcher.reset()
        const fault = (await faultOf(family.format, text, tools)) ?? (matcher.accept(text) && matcher.isComplete() ? undefined : "the matcher refuses it")
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
      const masks = createMaskEngine(family.grammar(tools), engine.tokenizer)
      const faults: string[] = []
      for (let seed = 0; seed < RUNS; seed++) {
        const result = await generateMasked(engine, "call: ", { constraint: masks.matcher(), sampler: { seed, temperature: 1 }, maxTokens: 1500 })
        const fault = result.finishReason === "stop" ? await faultOf(family.format, result.text, tools) : "no end"
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
        const text = await writeAll(engine.generate("call: ", { sampling: { seed, temperature: 1, maxTokens: RUNS > 12 ? 200 : 40 } }))
        if ((await faultOf(family.format, text, tools)) === undefined) calls++
      }
      expect(calls).toBeLessThanOrEqual(RUNS / 100)
    },
    timeout,
  )

  it("cannot call a tool that has been taken away", async () => {
    const left = [weather, file]
    const gbnf = gbnfOf(family, left)
    for (let seed = 0; seed < 10; seed++) {
      const text = await writeAll(engine.generate("call: ", { grammar: gbnf, sampling: { seed, temperature: 1 } }))
      expect(await faultOf(family.format, text, left)).toBeUndefined()
    }
    const after = createMatcher(family.grammar(left))
    const callOfIt = await writeAll(engine.generate("call: ", { grammar: gbnfOf(family, [search]), sampling: { seed: 1, temperature: 1 } }))
    expect(await faultOf(family.format, callOfIt, tools)).toBeUndefined()
    expect(after.accept(callOfIt)).toBe(false)
  })
})

import * as ai6 from "ai-6"
import { MockLanguageModelV3 } from "ai-6/test"
import * as ai7 from "ai-7"
import { MockLanguageModelV4 } from "ai-7/test"
import { describe, expect, test } from "vitest"
import type { ParseProblem } from "@toolwright/toolformat"
import { formatterById } from "@toolwright/toolformat"
import { toolFormatMiddleware } from "@toolwright/toolformat/ai-sdk"

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
}
const stop = { unified: "stop" as const, raw: "stop" }

/** Answers as a model behind a server that passes text through: in pieces of three characters, or whole. */
function answers(texts: string[]) {
  let asked = 0
  const next = (): string => texts[Math.min(asked++, texts.length - 1)]!
  const generate = async () => ({
    content: [{ type: "text" as const, text: next() }],
    finishReason: stop,
    usage,
    warnings: [],
  })
  const parts = () => [
    { type: "stream-start" as const, warnings: [] },
    { type: "text-start" as const, id: "0" },
    ...(next().match(/[^]{1,3}/g) ?? []).map((delta) => ({ type: "text-delta" as const, id: "0", delta })),
    { type: "text-end" as const, id: "0" },
    { type: "finish" as const, finishReason: stop, usage },
  ]
  return { generate, parts }
}

const schema = {
  type: "object" as const,
  properties: { a: { type: "integer" as const }, b: { type: "integer" as const } },
  required: ["a", "b"],
}
const call = { id: "call_0", name: "add", arguments: { a: 1, b: 2 } }

interface Loop {
  text: string
  reasoning: string
  steps: number
  calls: unknown[]
  ids: string[]
  prompts: string[]
  toolsSent: unknown[]
  parts?: string[]
}

async function runWith6(format: string, texts: string[], streamed: boolean): Promise<Loop> {
  const { generate, parts } = answers(texts)
  const model = new MockLanguageModelV3({
    modelId: "any",
    doGenerate: generate,
    doStream: async () => ({
      stream: ai6.simulateReadableStream({ chunks: parts(), initialDelayInMs: null, chunkDelayInMs: null }),
    }),
  })
  const tools = {
    add: ai6.tool({
      description: "Adds",
      inputSchema: ai6.jsonSchema<{ a: number; b: number }>(schema),
      execute: async ({ a, b }) => a + b,
    }),
  }
  const wrapped = ai6.wrapLanguageModel({ model, middleware: toolFormatMiddleware({ format }) })
  const settings = { model: wrapped, tools, system: "Be brief.", prompt: "1 + 2?", stopWhen: ai6.stepCountIs(4) }
  if (!streamed) {
    const result = await ai6.generateText(settings)
    return {
      text: result.text,
      reasoning: result.reasoningText ?? "",
      steps: result.steps.length,
      ...callsOf(result.steps),
      ...sent(model.doGenerateCalls),
    }
  }
  const result = ai6.streamText(settings)
  const seen: string[] = []
  for await (const part of result.fullStream) seen.push(part.type)
  return {
    text: await result.text,
    reasoning: (await result.reasoningText) ?? "",
    steps: (await result.steps).length,
    ...callsOf(await result.steps),
    ...sent(model.doStreamCalls),
    parts: seen,
  }
}

async function runWith7(format: string, texts: string[], streamed: boolean): Promise<Loop> {
  const { generate, parts } = answers(texts)
  const model = new MockLanguageModelV4({
    modelId: "any",
    doGenerate: generate,
    doStream: async () => ({
      stream: ai7.simulateReadableStream({ chunks: parts(), initialDelayInMs: null, chunkDelayInMs: null }),
    }),
  })
  const tools = {
    add: ai7.tool({
      description: "Adds",
      inputSchema: ai7.jsonSchema<{ a: number; b: number }>(schema),
      execute: async ({ a, b }) => a + b,
    }),
  }
  const wrapped = ai7.wrapLanguageModel({ model, middleware: toolFormatMiddleware({ format }) })
  const settings = { model: wrapped, tools, instructions: "Be brief.", prompt: "1 + 2?", stopWhen: ai7.stepCountIs(4) }
  if (!streamed) {
    const result = await ai7.generateText(settings)
    return {
      text: result.text,
      reasoning: result.reasoningText ?? "",
      steps: result.steps.length,
      ...callsOf(result.steps),
      ...sent(model.doGenerateCalls),
    }
  }
  const result = ai7.streamText(settings)
  const seen: string[] = []
  for await (const part of result.fullStream) seen.push(part.type)
  return {
    text: await result.text,
    reasoning: (await result.reasoningText) ?? "",
    steps: (await result.steps).length,
    ...callsOf(await result.steps),
    ...sent(model.doStreamCalls),
    parts: seen,
  }
}

function callsOf(steps: readonly { toolCalls: readonly { toolCallId: string; toolName: string; input: unknown }[] }[]) {
  const all = steps.flatMap((step) => step.toolCalls)
  return { calls: all.map(({ toolName, input }) => [toolName, input]), ids: all.map(({ toolCallId }) => toolCallId) }
}

function sent(given: readonly { prompt: unknown; tools?: unknown }[]) {
  return { prompts: given.map((each) => JSON.stringify(each.prompt)), toolsSent: given.map((each) => each.tools) }
}

describe.each([
  ["ai@6", runWith6],
  ["ai@7", runWith7],
] as const)("%s", (_name, run) => {
  describe.each([
    ["generateText", false],
    ["streamText", true],
  ] as const)("%s", (_kind, streamed) => {
    test.each(["hermes", "qwen3-xml", "llama-pythonic", "mistral-v3", "glm45"].filter((format) => hasFormat(format)))(
      "runs the tool loop in %s",
      async (format) => {
        const formatter = formatterById(format)
        const printed = formatter.printCalls([call], [])
        const loop = await run(format, [`Let me see.\n${printed}`, "It is 3."], streamed)
        expect(loop.steps).toBe(2)
        expect(loop.calls).toEqual([["add", { a: 1, b: 2 }]])
        expect(loop.text).toBe("It is 3.")
        expect(loop.toolsSent).toEqual([undefined, undefined])
        expect(loop.prompts[0]).toContain("add")
        expect(loop.prompts[0]).toContain("Be brief.")
        // The second prompt has the call and its result as text, in the family's own words.
        expect(loop.prompts[1]).toContain(
          JSON.stringify(formatter.printCalls([{ ...call, id: loop.ids[0]! }])).slice(1, -1),
        )
        expect(loop.prompts[1]).not.toContain('"tool-call"')
        expect(loop.prompts[1]).not.toContain('"tool-result"')
      },
    )

    test("gives each call of a conversation an id of its own", async () => {
      const printed = formatterById("hermes").printCalls([call, { ...call, id: "call_1" }], [])
      const loop = await run("hermes", [printed, printed, "Done."], streamed)
      expect(loop.ids).toHaveLength(4)
      expect(new Set(loop.ids).size).toBe(4)
    })

    test("tells reasoning from text", async () => {
      const loop = await run("hermes", ["<think>Hm.</think>Hello."], streamed)
      expect([loop.reasoning.trim(), loop.text.trim()]).toEqual(["Hm.", "Hello."])
      const begun = await run("hermes", ["Hm.</think>Hello."], streamed)
      // a stream cannot take text back
      expect([begun.reasoning, begun.text]).toEqual(streamed ? ["", "Hm.Hello."] : ["Hm.", "Hello."])
    })

    test("leaves plain answers alone", async () => {
      const loop = await run("hermes", ['a < b and {"x": 1}'], streamed)
      expect([loop.text, loop.calls, loop.steps]).toEqual(['a < b and {"x": 1}', [], 1])
      if (streamed) expect(loop.parts).not.toContain("tool-input-start")
    })
  })
})

function hasFormat(id: string): boolean {
  try {
    return formatterById(id).supportsNativeToolUse() === false
  } catch {
    return false
  }
}

test("streams the input of a call as it comes", async () => {
  const loop = await runWith7("hermes", [formatterById("hermes").printCalls([call], []), "3"], true)
  expect(loop.parts?.filter((type) => type === "tool-input-delta").length).toBeGreaterThan(1)
})

test("reports what was wrong in an answer", async () => {
  const problems: ParseProblem[] = []
  const { generate } = answers(['<tool_call>\n{"name": "add", "arguments": {"a": 1'])
  const model = new MockLanguageModelV3({ doGenerate: generate })
  const wrapped = ai6.wrapLanguageModel({
    model,
    middleware: toolFormatMiddleware({ format: "hermes", onProblem: (problem) => problems.push(problem) }),
  })
  await ai6.generateText({
    model: wrapped,
    prompt: "x",
    tools: { add: ai6.tool({ inputSchema: ai6.jsonSchema(schema) }) },
  })
  expect(problems.map((problem) => problem.kind)).toContain("unterminated-call")
})

test.each([false, true])(
  "what cannot be read is text, once, and what can is put right (streamed: %s)",
  async (streamed) => {
    const cut = '<tool_call>\n{"name": "add", "arguments": {"a": 1'
    const broken = await runWith6("hermes", [`Look. ${cut}`], streamed)
    expect([broken.calls, broken.text]).toEqual([[], expect.stringMatching(/^Look\.\s*\{[^]*"arguments": \{"a": 1$/)])
    const text = '<tool_call>\n{"name": "add", "arguments": {"a": "1", "b": "2"}}\n</tool_call>'
    const fixed = await runWith6("hermes", [text, "3"], streamed)
    expect(fixed.calls).toEqual([["add", { a: 1, b: 2 }]])
  },
)

test("chooses the format by the model's name, offers no tools when asked so, and can require a call", async () => {
  const { generate } = answers([formatterById("hermes").printCalls([call], []), "ok"])
  const model = new MockLanguageModelV3({ modelId: "Qwen2.5-7B-Instruct", doGenerate: generate })
  const wrapped = ai6.wrapLanguageModel({ model, middleware: toolFormatMiddleware({ addStopSequences: true }) })
  const tools = { add: ai6.tool({ description: "Adds", inputSchema: ai6.jsonSchema(schema) }) }
  await ai6.generateText({ model: wrapped, prompt: "x", tools, toolChoice: "required" })
  await ai6.generateText({ model: wrapped, prompt: "x", tools, toolChoice: "none" })
  const [required, none] = model.doGenerateCalls
  expect(JSON.stringify(required?.prompt)).toContain("<tool_call>")
  expect(JSON.stringify(required?.prompt)).toContain("Answer with a tool call.")
  expect(required?.stopSequences?.length).toBeGreaterThan(0)
  expect(JSON.stringify(none?.prompt)).not.toContain("tool_call")
})

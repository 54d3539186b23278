/**
 * Schemas through every public function that takes one: grammars, GBNF, masks, lowering, validation, prompts, parsers.
 */
import {
  checkGbnf,
  compileSchema,
  createMaskEngine,
  createMatcher,
  createTokenizer,
  createToolCallFilter,
  type Grammar,
  grammarToGbnf,
  lowerGrammar,
  multiToolCallSchema,
  type Schema,
  schemaToGBNF,
} from "@toolwright/logits"
import {
  checkArguments,
  defineTool,
  withoutTopCombinators,
  sampleCall,
  type JsonSchema,
  type ToolDefinition,
} from "@toolwright/toolbox"
import {
  formatterOf,
  grammarFor,
  listFormats,
  lowerSchema,
  restoreArguments,
  toolsFromJson,
} from "@toolwright/toolformat"
import type { Random } from "./random.ts"
import { fuzzedSchema, INSTANCES } from "./schemas.ts"
import type { Expecting, Target } from "./target.ts"

const encoder = new TextEncoder()
const letters = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const words = ['{"', '":', '", "', "tool", "true", "123", "}]", "ab", "a\\n", "é", "😀"].map((text) =>
  encoder.encode(text),
)
const tokenizer = createTokenizer({ tokens: [...letters, ...words, null], eos: [letters.length + words.length] })
const TARGETS = ["openai-strict", "anthropic", "gemini", "llama.cpp-gbnf", "generic"] as const
const FORMATS = listFormats().filter((format) => format.apiOnly === undefined)

export const schemaTarget: Target = {
  name: "schemas",
  show: (random) => describe(fuzzedSchema(random)),
  async run(random, expecting) {
    const schema = fuzzedSchema(random) as Schema
    const options = {
      relaxed: random.chance(0.4),
      closed: random.chance(0.2),
      ...(random.chance(0.5) ? { formats: random.pick(["assert", "annotate"] as const) } : {}),
      ...(random.chance(0.2) ? { uniqueItems: "finite" as const } : {}),
    }
    const { grammar } = compileSchema(schema, options)
    if (grammar !== undefined) useGrammar(random, grammar, expecting)
    if (random.chance(0.25)) expecting(["SCHEMA_REFUSED", "GRAMMAR_REFUSED"], () => schemaToGBNF(schema, options))
    const isObject = typeof schema === "object" && schema !== null && schema["type"] === "object"
    await useTool(
      random,
      isObject || random.chance(0.2) ? schema : { type: "object", properties: { a: schema } },
      expecting,
    )
  },
}

function useGrammar(random: Random, grammar: Grammar, expecting: Expecting): void {
  const matcher = createMatcher(grammar)
  for (const instance of [random.pick(INSTANCES), random.pick(INSTANCES)]) {
    matcher.reset()
    matcher.accept(instance)
    matcher.isFinished()
  }
  matcher.reset()
  walk(random, matcher)
  if (random.chance(0.2)) {
    const engine = expecting(["INVALID_GRAMMAR", "SCHEMA_REFUSED"], () => createMaskEngine(grammar, tokenizer))
    const tokens = engine?.matcher()
    for (let left = tokens === undefined ? 0 : 12; left > 0; left--) {
      // Where unique items are out of endlessly many values there are no masks, which only shows within the array.
      const mask = expecting(["INVALID_GRAMMAR"], () => tokens!.mask())
      if (mask === undefined) break
      const allowed = Array.from({ length: tokenizer.size }, (_, id) => id).filter(
        (id) => (mask[id >> 5]! >>> (id & 31)) & 1,
      )
      if (allowed.length === 0 || !tokens!.accept(random.pick(allowed))) break
    }
  }
  if (random.chance(0.2)) {
    const lowered = expecting(["GRAMMAR_REFUSED"], () => lowerGrammar(grammar))
    const gbnf =
      lowered === undefined ? undefined : expecting(["GRAMMAR_REFUSED", "GBNF_INVALID"], () => grammarToGbnf(lowered))
    if (gbnf !== undefined && gbnf.length < 20_000) checkGbnf(gbnf)
  }
}

/** Writes what the grammar lets through, a byte at a time, so that every plan that is made late is made. */
function walk(random: Random, matcher: ReturnType<typeof createMatcher>): void {
  for (let left = 60; left > 0; left--) {
    const bytes = matcher.machine.bytes(matcher.state)
    if (bytes.length === 0) return
    matcher.accept(Uint8Array.of(random.pick(bytes)))
  }
  matcher.forced(64)
}

async function useTool(random: Random, schema: Schema, expecting: Expecting): Promise<void> {
  const target = random.pick(TARGETS)
  const lowered = expecting(["INVALID_SCHEMA"], () => lowerSchema(schema as JsonSchema, target))
  if (lowered !== undefined) restoreArguments({ a: null, days: null, city: "x" }, schema as JsonSchema)
  const defined = expecting(["INVALID_TOOL"], () =>
    defineTool({ name: "fuzzed", description: "", parameters: schema as JsonSchema, execute: () => 1 }),
  )
  const read = expecting(["INVALID_TOOLS"], () =>
    toolsFromJson([{ name: "read", parameters: schema }, { name: "other" }]),
  )
  const tools: ToolDefinition[] = [...(defined === undefined ? [] : [defined]), ...(read ?? [])]
  for (const tool of tools) {
    await checkArguments(
      tool,
      random.pick<unknown>([{}, { a: 1, city: "x" }, "{", null, 7, { path: ["x"], lines: "a" }, deepValue(300)]),
    )
    sampleCall(tool)
    withoutTopCombinators(tool.parameters)
  }
  if (tools.length === 0) return
  const format = random.pick(FORMATS)
  const formatter = formatterOf(format)
  formatter.formatToolsForPrompt(tools)
  formatter.printCalls([{ id: "1", name: "fuzzed", arguments: { a: 1, city: ["x", { b: null }] } }], tools)
  formatter.parse(
    formatter.printCalls([{ id: "1", name: "read", arguments: { a: "1", days: 2, lines: ["x"] } }], tools),
    {
      tools,
    },
  )
  const grammar = expecting(["SCHEMA_REFUSED"], () =>
    grammarFor(format, tools, { mode: random.pick(["call", "text-or-call"]) }),
  )
  if (grammar !== undefined) walk(random, createMatcher(grammar))
  if (random.chance(0.1)) {
    const signatures = tools.map((tool) => ({ name: tool.name, parameters: tool.parameters as Schema }))
    compileSchema(multiToolCallSchema(signatures))
    expecting(["SCHEMA_REFUSED", "INVALID_GRAMMAR"], () =>
      createToolCallFilter({ tools: signatures, tokenizer }).mask(),
    )
  }
}

function deepValue(depth: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = { a: value }
  return value
}

/** A text of the schema for a person, whatever it is. */
export function describe(value: unknown): string {
  try {
    return (JSON.stringify(value) ?? String(value)).slice(0, 4000)
  } catch (thrown) {
    return `${typeof value} that is no JSON: ${String(thrown).split("\n")[0]}`
  }
}

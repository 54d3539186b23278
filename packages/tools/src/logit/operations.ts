import {
  createPresetRegistry,
  createSafetyFilter,
  generateInMode,
  grammarToGbnf,
  matchesGbnf,
  multiToolCallSchema,
  schemaToGrammar,
  type Attempt,
  type Constraint,
  type GenerationMode,
  type SafetyLevel,
} from "@toolwright/logits"
import {
  failure,
  messageOf,
  success,
  ToolwrightError,
  validate,
  type JsonObject,
  type JsonSchema,
  type ToolContext,
  type ToolResult,
} from "@toolwright/toolbox"
import { generateText, type LogitGenerator, type LogitRequest } from "./generator.ts"
import type { LogitToolConfig } from "./config.ts"
import { samplingOf, settingsOf, shownSampler } from "./settings.ts"

type Operation = (args: JsonObject, context: ToolContext, config: LogitToolConfig) => Promise<ToolResult>

export const listPresets: Operation = async (_args, _context, config) => {
  const presets = createPresetRegistry(config.presets)
    .list()
    .map(({ sampler, ...rest }) => ({ ...rest, sampler: shownSampler(sampler) }))
  const lines = presets.map(({ name, description, sampler, grammar, safety }) => {
    const extras = [
      ...(grammar === undefined ? [] : [`grammar: ${grammar}`]),
      ...(safety === undefined ? [] : [`safety: ${safety}`]),
    ]
    const settings = Object.entries(sampler).map(([key, value]) => `${key} ${String(value)}`)
    return `${name}: ${description} (${[...settings, ...extras].join(", ")})`
  })
  return success({ output: lines.join("\n"), data: { presets } })
}

export const generate: Operation = async (args, { signal }, config) => {
  const generator = await generatorOf(config)
  const { preset, sampler } = settingsOf(args, createPresetRegistry(config.presets))
  const grammar =
    (args["grammar"] as string | undefined) ??
    (preset?.grammar === "json-object" ? jsonObjectGrammar(generator) : undefined)
  const mode = (args["mode"] as GenerationMode | undefined) ?? (grammar === undefined ? "unconstrained" : "grammar")
  const { result, attempts } = await generateInMode(mode, grammar === undefined ? {} : { grammar }, (constraint) =>
    generateText(generator, { ...ask(args), ...samplingOf(sampler), ...pick(constraint) }, signal),
  )
  const level = (args["safety"] as SafetyLevel | undefined) ?? preset?.safety
  const { text, found } = filtered(result.text, level)
  return success({
    output: text,
    data: {
      text,
      preset: preset?.name ?? null,
      sampler: shownSampler(sampler),
      finish_reason: result.finishReason,
      attempts,
      ...leftOut(generator, sampler),
      ...(level !== undefined && { safety: { level, findings: found } }),
    },
  })
}

export const generateStructured: Operation = async (args, { signal }, config) => {
  const generator = await generatorOf(config)
  const { preset, sampler } = settingsOf(args, createPresetRegistry(config.presets), "json_strict")
  const schema = args["schema"] as JsonSchema
  const outcome = await structured(generator, { ...ask(args), ...samplingOf(sampler) }, schema, signal)
  if (outcome.error !== undefined) return invalidOutput(outcome.error, outcome)
  return success({
    output: JSON.stringify(outcome.value, null, 2),
    data: {
      value: outcome.value,
      preset: preset?.name ?? null,
      attempts: outcome.attempts,
      ...leftOut(generator, sampler),
    },
  })
}

export const generateToolCall: Operation = async (args, { signal }, config) => {
  const generator = await generatorOf(config)
  const { preset, sampler } = settingsOf(args, createPresetRegistry(config.presets), "tool_call")
  const tools = (args["tools"] as (string | { name: string; description?: string; parameters?: JsonSchema })[]).map(
    (tool) => (typeof tool === "string" ? knownTool(tool, config) : tool),
  )
  const listed = tools.map(
    ({ name, description, parameters }) =>
      `- ${name}${description === undefined ? "" : `: ${description}`} ${JSON.stringify(parameters ?? {})}`,
  )
  const instructions =
    'Call exactly one of these tools. Answer with {"name": …, "args": {…}} and nothing else.\n' + listed.join("\n")
  const request = ask({
    ...args,
    system: [args["system"], instructions].filter((part) => typeof part === "string").join("\n\n"),
  })
  const schema = multiToolCallSchema(tools) as JsonSchema
  const outcome = await structured(generator, { ...request, ...samplingOf(sampler) }, schema, signal)
  if (outcome.error !== undefined) return invalidOutput(outcome.error, outcome)
  const call = outcome.value as { name: string; args: JsonObject }
  return success({
    output: JSON.stringify(call, null, 2),
    data: { ...call, preset: preset?.name ?? null, attempts: outcome.attempts, ...leftOut(generator, sampler) },
  })
}

export const testConfig: Operation = async (args, context, config) => {
  const generator = await generatorOf(config)
  const { preset, sampler } = settingsOf(args, createPresetRegistry(config.presets))
  const iterations = (args["iterations"] as number | undefined) ?? 5
  const { grammar, schema, contains } = args as { grammar?: string; schema?: JsonSchema; contains?: string }
  const failures: { iteration: number; reason: string; text: string }[] = []
  const texts = new Set<string>()
  const started = performance.now()
  for (let iteration = 1; iteration <= iterations; iteration++) {
    context.signal.throwIfAborted()
    // A fixed seed would give the same text each time; it is counted up instead.
    const seed = sampler.seed === undefined || sampler.seed < 0 ? {} : { seed: sampler.seed + iteration - 1 }
    const request = { ...ask(args), ...samplingOf({ ...sampler, ...seed }) }
    const { text, reason } = await once(generator, request, { grammar, schema, contains }, context.signal)
    texts.add(text)
    if (reason !== undefined) failures.push({ iteration, reason, text: text.slice(0, 500) })
    context.progress({ progress: iteration, total: iterations })
  }
  const passed = iterations - failures.length
  const untold = leftOut(generator, sampler)
  const data = {
    preset: preset?.name ?? null,
    sampler: shownSampler(sampler),
    iterations,
    passed,
    pass_rate: passed / iterations,
    distinct: texts.size,
    mean_ms: (performance.now() - started) / iterations,
    failures,
    ...untold,
  }
  const note =
    untold.left_out === undefined ? "" : ` Without ${untold.left_out.join(", ")}: the model server takes none.`
  return success({ output: `${passed} of ${iterations} answers passed, ${texts.size} of them different.${note}`, data })
}

/** The settings that the model's server has no word for: an answer came without them. */
function leftOut(
  generator: LogitGenerator,
  sampler: Parameters<typeof samplingOf>[0],
): { left_out?: readonly string[] } {
  const names = generator.leavesOut?.({ messages: [], ...samplingOf(sampler) }) ?? []
  return names.length === 0 ? {} : { left_out: names }
}

async function once(
  generator: LogitGenerator,
  request: LogitRequest,
  checks: { grammar: string | undefined; schema: JsonSchema | undefined; contains: string | undefined },
  signal: AbortSignal,
): Promise<{ text: string; reason?: string }> {
  const { grammar, schema, contains } = checks
  try {
    if (schema !== undefined && grammar === undefined) {
      const outcome = await structured(generator, request, schema, signal)
      return { text: outcome.text, ...(outcome.error !== undefined && { reason: outcome.error }) }
    }
    const { text } = await generateText(
      generator,
      { ...request, ...(grammar !== undefined && generator.abilities.grammar && { grammar }) },
      signal,
    )
    if (grammar !== undefined && !matchesGbnf(grammar, text)) return { text, reason: "it does not match the grammar" }
    if (contains !== undefined && !text.includes(contains)) return { text, reason: `it does not contain '${contains}'` }
    return text.trim() === "" ? { text, reason: "it is empty" } : { text }
  } catch (thrown) {
    signal.throwIfAborted()
    return { text: "", reason: messageOf(thrown) }
  }
}

interface Structured {
  readonly text: string
  readonly value: unknown
  readonly attempts: readonly Attempt[]
  readonly finishReason: string
  /** Why the text is no valid value; nothing if it is one. */
  readonly error?: string
}

/**
 * A value of a schema: under a grammar, or a schema where the server takes only that, or by asking; validated in each
 * case.
 */
async function structured(
  generator: LogitGenerator,
  request: LogitRequest,
  schema: JsonSchema,
  signal: AbortSignal,
): Promise<Structured> {
  const { constraint, refused } = constraintFor(generator, schema)
  const asked = constraint.grammar === undefined ? withSchemaInPrompt(request, schema) : request
  const mode = constraint.grammar === undefined && constraint.schema === undefined ? "unconstrained" : "hybrid"
  const { result, attempts } = await generateInMode(mode, constraint, (each) =>
    generateText(
      generator,
      { ...(each.grammar === undefined ? withSchemaInPrompt(request, schema) : asked), ...pick(each) },
      signal,
    ),
  )
  const all = refused === undefined ? attempts : [{ constraint: "grammar" as const, error: refused }, ...attempts]
  const base = { text: result.text, finishReason: result.finishReason, attempts: all }
  let value: unknown
  try {
    value = JSON.parse(result.text.trim())
  } catch {
    const why = result.finishReason === "length" ? "it was cut off; raise max_tokens" : "it is no JSON"
    return { ...base, value: undefined, error: why }
  }
  const [first] = await validate(schema, value)
  return {
    ...base,
    value,
    ...(first !== undefined && {
      error: `${first.instancePath === "" ? "the value" : first.instancePath} ${first.message ?? "is not valid"}`,
    }),
  }
}

function constraintFor(generator: LogitGenerator, schema: JsonSchema): { constraint: Constraint; refused?: string } {
  const other: Constraint = generator.abilities.jsonSchema ? { schema } : {}
  if (!generator.abilities.grammar) return { constraint: other }
  try {
    return { constraint: { grammar: grammarToGbnf(schemaToGrammar(schema)) } }
  } catch (thrown) {
    if (!ToolwrightError.isInstance(thrown)) throw thrown
    return { constraint: other, refused: messageOf(thrown) }
  }
}

function withSchemaInPrompt(request: LogitRequest, schema: JsonSchema): LogitRequest {
  const note = {
    role: "system",
    content: `Answer with JSON that is valid by this JSON Schema, and nothing else:\n${JSON.stringify(schema)}`,
  } as const
  return { ...request, messages: [note, ...request.messages] }
}

function jsonObjectGrammar(generator: LogitGenerator): string | undefined {
  return generator.abilities.grammar ? grammarToGbnf(schemaToGrammar({ type: "object" })) : undefined
}

function pick({ grammar, schema }: Constraint): Pick<LogitRequest, "grammar" | "jsonSchema"> {
  return { ...(grammar !== undefined && { grammar }), ...(schema !== undefined && { jsonSchema: schema }) }
}

function ask(args: JsonObject): Pick<LogitRequest, "messages"> {
  const { prompt, system } = args as { prompt: string; system?: string }
  return {
    messages: [
      ...(system === undefined || system === "" ? [] : [{ role: "system" as const, content: system }]),
      { role: "user", content: prompt },
    ],
  }
}

function filtered(text: string, level: SafetyLevel | undefined) {
  if (level === undefined) return { text, found: [] }
  const filter = createSafetyFilter({ level })
  return { text: filter.redact(text), found: filter.check(text).map(({ category, rule }) => ({ category, rule })) }
}

async function generatorOf({ generator }: LogitToolConfig): Promise<LogitGenerator> {
  if (generator !== undefined) return typeof generator === "function" ? await generator() : generator
  throw new ToolwrightError("NO_MODEL", "The logit tool has no model to generate with.", {
    hint: "Configure a model; list_presets works without one.",
  })
}

function knownTool(
  name: string,
  { tools }: LogitToolConfig,
): { name: string; description?: string; parameters?: JsonSchema } {
  const known = tools?.() ?? []
  const tool = known.find((each) => each.name === name)
  if (tool !== undefined) return { name, description: tool.description, parameters: tool.parameters }
  throw new ToolwrightError("UNKNOWN_TOOL", `There is no tool '${name}' to make a call of.`, {
    hint:
      known.length === 0
        ? 'Describe the tool: {"name", "parameters"}.'
        : `Known tools: ${known.map((each) => each.name).join(", ")}. Or describe the tool: {"name", "parameters"}.`,
  })
}

function invalidOutput(reason: string, { text, attempts }: Structured): ToolResult {
  return failure({
    code: "INVALID_OUTPUT",
    message: `The model's answer is not valid: ${reason}.`,
    hint: "Try again, raise max_tokens, or use a model server that takes grammars.",
    retryable: true,
    details: { text: text.slice(0, 2000), attempts },
  })
}

import {
  failure,
  messageOf,
  ToolwrightError,
  type JsonObject,
  type JsonSchema,
  type ToolContext,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { LogitToolConfig } from "./config.ts"

export type { LogitToolConfig } from "./config.ts"

const prompt: JsonSchema = { type: "string", minLength: 1, description: "What the model is asked" }
const system: JsonSchema = { type: "string", description: "Instructions that go before the prompt" }
const preset: JsonSchema = { type: "string", description: "Name of a preset; list_presets shows them" }
const number = (description: string, minimum: number, maximum: number): JsonSchema => ({
  type: "number",
  minimum,
  maximum,
  description,
})
const integer = (description: string, minimum: number, maximum: number): JsonSchema => ({
  type: "integer",
  minimum,
  maximum,
  description,
})
const sampler: JsonSchema = {
  type: "object",
  description: "Sampler settings that go over the preset's",
  properties: {
    temperature: number("0 always takes the likeliest token", 0, 2),
    top_k: integer("Only the likeliest so many tokens; 0 is off", 0, 1_000_000),
    top_p: number("Only the likeliest tokens that together have this probability", 0, 1),
    min_p: number("Only tokens at least this likely, as a share of the likeliest", 0, 1),
    repetition_penalty: number("Above 1 discourages repetition", 0, 2),
    repetition_window: integer("How many of the last tokens count as repeated; -1 is all", -1, 1_000_000),
    frequency_penalty: number("Per occurrence", -2, 2),
    presence_penalty: number("Once for each token that occurred", -2, 2),
    mirostat: { type: "integer", enum: [0, 1, 2], description: "Version of mirostat; 0 is off" },
    mirostat_tau: number("Wanted surprise in bits", 0, 20),
    mirostat_eta: number("How fast mirostat corrects itself", 0, 1),
    logit_bias: {
      type: "object",
      additionalProperties: { type: "number" },
      description: "Added to logits, by token number",
    },
    max_tokens: integer("Most tokens to generate; -1 is no limit", -1, 10_000_000),
    seed: integer("The same seed gives the same text; -1 a different one each time", -1, 4_294_967_295),
    stop: { type: "array", items: { type: "string", minLength: 1 }, description: "Texts at which generation ends" },
  },
  additionalProperties: false,
}
const schema: JsonSchema = { type: "object", description: "JSON Schema of the wanted value" }
const safety: JsonSchema = {
  type: "string",
  enum: ["minimal", "standard", "strict", "maximum"],
  description: "How much is filtered; the preset's level unless given",
}
const tools: JsonSchema = {
  type: "array",
  minItems: 1,
  description: "Tools of which one is to be called: names of known tools, or descriptions",
  items: {
    anyOf: [
      { type: "string", minLength: 1 },
      {
        type: "object",
        properties: {
          name: { type: "string", minLength: 1 },
          description: { type: "string" },
          parameters: { type: "object", description: "JSON Schema of the arguments" },
        },
        required: ["name"],
        additionalProperties: false,
      },
    ],
  },
}
const reads = { readOnly: true, idempotent: false, network: true } as const

const OUTPUT: JsonSchema = {
  type: "object",
  description: "By operation: text and attempts; value; name and args; the report of a test; presets",
  properties: {
    text: { type: "string" },
    value: { description: "Valid by the schema that was asked for" },
    name: { type: "string", description: "The tool that is called" },
    args: { type: "object", description: "Its arguments" },
    preset: { type: ["string", "null"] },
    attempts: {
      type: "array",
      items: { type: "object" },
      description: "What each try was held to, and why it failed if it did",
    },
    pass_rate: { type: "number", minimum: 0, maximum: 1 },
    presets: { type: "array", items: { type: "object" } },
  },
}

type Operation = "generate" | "generateStructured" | "generateToolCall" | "testConfig" | "listPresets"

/** What each action is told as, what it takes, and which operation carries it out. */
const ACTIONS: Readonly<Record<string, Omit<ActionSpecification, "execute"> & { operation: Operation }>> = {
  generate: {
    description: "Generates text, freely or held to a GBNF grammar.",
    properties: {
      prompt,
      system,
      preset,
      sampler,
      safety,
      grammar: { type: "string", minLength: 1, description: "GBNF grammar of the whole answer" },
      mode: {
        type: "string",
        enum: ["unconstrained", "grammar", "hybrid"],
        description:
          "hybrid goes on without the grammar if the model server refuses it; grammar if one is given, else " +
          "unconstrained, unless set",
      },
    },
    required: ["prompt"],
    effects: reads,
    examples: [
      {
        description: "Answer yes or no",
        input: { prompt: "Is 7 a prime number?", grammar: 'root ::= "yes" | "no"', preset: "deterministic" },
      },
    ],
    operation: "generate",
  },
  generate_structured: {
    description: "Generates a JSON value that is valid by a JSON Schema.",
    properties: { prompt, system, schema, preset, sampler },
    required: ["prompt", "schema"],
    effects: reads,
    examples: [
      {
        description: "Extract a person",
        input: {
          prompt: "Ada Lovelace was born in 1815.",
          schema: {
            type: "object",
            properties: { name: { type: "string" }, born: { type: "integer" } },
            required: ["name", "born"],
            additionalProperties: false,
          },
        },
      },
    ],
    operation: "generateStructured",
  },
  generate_tool_call: {
    description: "Generates a call of one of the given tools, with arguments that are valid by its schema.",
    properties: { prompt, system, tools, preset, sampler },
    required: ["prompt", "tools"],
    effects: reads,
    examples: [
      {
        description: "Choose between two tools",
        input: {
          prompt: "Will it rain in Oslo?",
          tools: [
            {
              name: "get_forecast",
              parameters: {
                type: "object",
                properties: { city: { type: "string" } },
                required: ["city"],
                additionalProperties: false,
              },
            },
            { name: "get_time" },
          ],
        },
      },
    ],
    operation: "generateToolCall",
  },
  test_config: {
    description: "Generates several times with one configuration and reports how often the answer passes.",
    properties: {
      prompt,
      system,
      preset,
      sampler,
      schema,
      grammar: { type: "string", minLength: 1, description: "GBNF grammar; an answer passes if it matches" },
      contains: { type: "string", minLength: 1, description: "An answer passes if it contains this text" },
      iterations: { type: "integer", minimum: 1, maximum: 50, description: "How often; 5 unless given" },
    },
    required: ["prompt"],
    effects: reads,
    examples: [
      {
        description: "How often is it JSON?",
        input: {
          prompt: "Give me a JSON object.",
          preset: "json_strict",
          schema: { type: "object" },
          iterations: 10,
        },
      },
    ],
    operation: "testConfig",
  },
  list_presets: {
    description: "Lists the presets with their settings.",
    properties: {},
    effects: { readOnly: true, idempotent: true },
    examples: [{ description: "Which presets are there?", input: {} }],
    operation: "listPresets",
  },
}

/** The `logit` tool: generation with full control over sampling, held to grammars and schemas. */
export function createLogitTool(config: LogitToolConfig = {}): ToolDefinition {
  /** The operations load the grammar engine, so they are loaded when first called. */
  const run =
    (operation: Operation) =>
    async (args: JsonObject, context: ToolContext): Promise<ToolResult> => {
      try {
        const operations = await import("./operations.ts")
        return await operations[operation](args, context, config)
      } catch (thrown) {
        context.signal.throwIfAborted()
        if (!ToolwrightError.isInstance(thrown)) throw thrown
        return failure({
          code: thrown.code,
          message: messageOf(thrown),
          ...(thrown.hint !== undefined && { hint: thrown.hint }),
          retryable: thrown.code.startsWith("MODEL_"),
        })
      }
    }

  return defineMultiActionTool({
    name: "logit",
    sets: ["models"],
    title: "Logit",
    description:
      "Generates text with a model under full control: presets, sampler settings, grammars, JSON Schemas, " +
      "guaranteed tool calls.",
    category: "utility",
    optionality: "optional",
    usageHint:
      "Use when: the answer must be JSON of a schema (generate_structured) or a call (generate_tool_call). Don't " +
      "use when: plain words will do.",
    tags: ["generation", "grammar", "sampling"],
    effects: reads,
    ...(config.generator === undefined ? { capabilities: ["config:model"] } : {}),
    argument: "operation",
    outputSchema: OUTPUT,
    actions: Object.fromEntries(
      Object.entries(ACTIONS).map(([name, { operation, ...about }]) => [name, { ...about, execute: run(operation) }]),
    ),
  })
}

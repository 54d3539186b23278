import type { JsonSchema } from "@toolwright/toolbox"

const text = (description: string): JsonSchema => ({ type: "string", description })
const texts = (description: string): JsonSchema => ({
  type: ["string", "array"],
  items: { type: "string" },
  description,
})

const object = (description: string, properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: "object",
  description,
  properties,
  ...(required.length === 0 ? {} : { required }),
  additionalProperties: false,
})

/** The same shape, but a plain value of another type stands for it too. */
const or = (type: string, { type: own, ...rest }: JsonSchema): JsonSchema => ({ type: [type, own as string], ...rest })

const count = (description: string): JsonSchema =>
  or("integer", { ...object(description, { min: { type: "integer" }, max: { type: "integer" } }), minimum: 0 })

const chunks: JsonSchema = {
  type: ["integer", "string", "array"],
  minimum: 1,
  pattern: "^char$",
  items: { type: "integer", minimum: 1 },
  description: "How text is cut into deltas: a number of characters, `char`, or the pieces' lengths",
}

const textCheck = (what: string): JsonSchema =>
  or(
    "string",
    object(`${what}; a string is text that must be contained`, {
      contains: texts("Text that must be contained"),
      excludes: texts("Text that must not be contained"),
      matches: texts("JavaScript regular expression that must match (flag m)"),
      equals: text("The whole text"),
      json: { type: "object", description: "JSON paths and the values that must stand there" },
    }),
  )

const expectation: JsonSchema = {
  ...object("What must be true of the request", {
    system: textCheck("The system prompt"),
    user: textCheck("The first user message"),
    last: textCheck("The last message"),
    result: textCheck("What came back since the model's last reply"),
    any: textCheck("All messages together"),
    success: { type: "boolean", description: "Whether the last tool result was a success" },
    messages: count("How many messages were sent"),
    results: count("How many tool results came back since the last reply"),
    tools: or("boolean", {
      ...object("The tools offered natively; false for none", {
        exactly: { type: "array", items: { type: "string" } },
        include: { type: "array", items: { type: "string" } },
        exclude: { type: "array", items: { type: "string" } },
      }),
      not: { const: true },
    }),
    toolChoice: { type: "string", enum: ["auto", "none", "required"] },
    grammar: {
      ...textCheck("The grammar; true or false for whether there is one"),
      type: ["boolean", "string", "object"],
    },
    jsonSchema: { type: "boolean", description: "Whether the reply was constrained to a JSON Schema" },
  }),
}

const capture: JsonSchema = or(
  "string",
  object("Where a value comes from; a string is a regular expression on the result", {
    from: { type: "string", enum: ["result", "last", "user", "system", "any"] },
    matches: text("Regular expression; the value is its first group, or the whole match"),
    json: text("JSON path, e.g. $.matches[0].line"),
    as: { type: "string", enum: ["text", "number", "json"] },
  }),
)

const call: JsonSchema = object(
  "A call: native where tools were offered, else written in the model's format",
  {
    name: text("The tool's name"),
    arguments: {
      type: ["object", "string"],
      description: "The arguments; a text is their raw JSON text, for broken ones",
    },
    id: text("The call's id"),
  },
  ["name"],
)

const streamPart: JsonSchema = object("A run of deltas of one kind, in order", {
  reasoning: texts("Reasoning deltas"),
  text: texts("Text deltas"),
  call: { type: "integer", minimum: 0, description: "Index of the native call that this delta belongs to" },
  id: text("The call's id"),
  name: text("The tool's name"),
  arguments: text("A piece of the arguments' JSON text"),
  retry: { type: "integer", minimum: 1, description: "A retry of the transport: which attempt follows" },
  delayMs: { type: "number", minimum: 0 },
  reason: text("Why it was retried"),
})

const reply: JsonSchema = or(
  "string",
  object("What the model replies; a string is its text", {
    reasoning: text("Reasoning, before the text"),
    text: text("The raw text, in whatever syntax the model family writes"),
    calls: { type: "array", items: call, description: "Calls, after the text" },
    stream: {
      type: "array",
      items: streamPart,
      description: "Deltas in any order, instead of reasoning, text and calls",
    },
    chunks,
    finish: { type: "string", enum: ["stop", "length", "tool-calls", "content-filter", "error", "unknown"] },
    usage: object(
      "Token counts",
      {
        inputTokens: { type: "integer", minimum: 0 },
        outputTokens: { type: "integer", minimum: 0 },
        reasoningTokens: { type: "integer", minimum: 0 },
      },
      ["inputTokens", "outputTokens"],
    ),
    error: object("A failure, after whatever is given besides", {
      status: { type: "integer", minimum: 400, maximum: 599, description: "HTTP status" },
      kind: { type: "string", enum: ["unreachable", "timeout", "invalid-utf8", "invalid-json", "cut-off"] },
      code: text("Error code, e.g. MODEL_SERVER_ERROR"),
      message: text("What it says"),
      hint: text("What to do"),
    }),
    hang: { type: "boolean", description: "Never ends, until cancelled" },
    delayMs: { type: "number", minimum: 0, description: "Milliseconds before the reply" },
    interpolate: { type: "boolean", description: "Whether {{name}} stands for a captured value; true unless given" },
  }),
)

const step: JsonSchema = object(
  "One inference",
  {
    name: text("What this step is about, shown in errors"),
    repeat: {
      type: ["integer", "string"],
      minimum: 1,
      pattern: "^always$",
      description: "How many inferences this step answers, or `always`",
    },
    expect: { ...expectation, type: ["object", "array"], items: expectation },
    capture: { type: "object", additionalProperties: capture, propertyNames: { pattern: "^[A-Za-z_][A-Za-z0-9_]*$" } },
    reply,
    sent: { type: "object", description: "The request as it was recorded; not looked at when it is played" },
  },
  ["reply"],
)

/** The JSON Schema (2020-12) of a screenplay; published as `schema/screenplay.schema.json`. */
export const SCREENPLAY_SCHEMA: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Toolwright screenplay",
  ...object(
    "A scripted model: what it expects to be sent, and what it replies, step by step",
    {
      $schema: { type: "string" },
      name: text("What this screenplay plays"),
      model: text("The model name that the backend states, from which a format is chosen"),
      abilities: object("What the backend says it can do", {
        nativeTools: { type: "boolean" },
        grammar: { type: "boolean" },
        jsonSchema: { type: "boolean" },
        small: { type: "boolean" },
      }),
      chunks,
      steps: { type: "array", minItems: 1, items: step },
    },
    ["steps"],
  ),
}

import type { JsonSchema, ToolCall, ToolDefinition } from "@toolwright/toolbox"

/** Words that no template has, so that wherever one stands, it is ours. */
export const WORDS = {
  user: "qzuserword",
  said: "qzsaidword",
  thought: "qzthoughtword",
  system: "qzsystemword",
  result: "qzresultword",
  /** Two tools, two parameters of each, and values, all without a common beginning or end. */
  first: "qzalpha_one",
  second: "wxbravo_two",
  key: "kqmango",
  otherKey: "jzpeach",
  value: "vqriver stone",
  otherValue: "hzcloud field",
} as const

const { first, second, key, otherKey, value, otherValue } = WORDS

/** Parameters with one type each, for what a template may print in its own way. */
const TYPED: Readonly<Record<string, JsonSchema>> = {
  [key]: { type: "string", description: "A text" },
  [otherKey]: { type: "string", description: "Another text" },
  whole: { type: "integer" },
  broken: { type: "number" },
  yes: { type: "boolean" },
  nothing: { type: ["integer", "null"] },
  list: { type: "array", items: { type: "string" } },
  numbers: { type: "array", items: { type: "integer" } },
  nested: {
    type: "object",
    properties: {
      inner: { type: "string" },
      deep: { type: "object", properties: { more: { type: "array", items: { type: "boolean" } } } },
    },
  },
}

function probeTool(name: string, properties: Readonly<Record<string, JsonSchema>>): ToolDefinition {
  return {
    name,
    description: "Probe",
    category: "utility",
    optionality: "optional",
    parameters: { type: "object", properties },
    handler: () => Promise.reject(new Error("a probe is never called")),
  }
}

/** The tools that the probes call, with the types by which their calls are read. */
export function probeTools(): ToolDefinition[] {
  return [probeTool(first, TYPED), probeTool(second, TYPED)]
}

/** The same as templates are shown them: with texts alone, since some fail on lists of types. */
export function plainTools(): ToolDefinition[] {
  const properties = { [key]: TYPED[key]!, [otherKey]: TYPED[otherKey]! }
  return [probeTool(first, properties), probeTool(second, properties)]
}

const IDS = ["qzcall001", "qzcall002", "qzcall003"]

function call(name: string, args: ToolCall["arguments"], index = 0): ToolCall {
  return { id: IDS[index]!, name, arguments: args }
}

/** The calls from which a syntax is read off. */
export const PLAIN = {
  one: [call(first, { [key]: value })],
  other: [call(second, { [otherKey]: otherValue })],
  two: [call(first, { [key]: value, [otherKey]: otherValue })],
  none: [call(first, {})],
  tags: [call(first, { [key]: "a <b>bold</b> & {x}" })],
  number: [call(first, { whole: 7, [key]: value })],
  pair: [call(first, { [key]: value }), call(second, { [otherKey]: otherValue }, 1)],
  three: [
    call(first, { [key]: value }),
    call(second, { [otherKey]: otherValue }, 1),
    call(first, { [otherKey]: value }, 2),
  ],
} as const satisfies Record<string, readonly ToolCall[]>

/** What a call can have in it that a template may print otherwise than a text; each is named for people. */
export const KINDS: readonly { what: string; calls: readonly ToolCall[] }[] = [
  { what: "whole numbers", calls: [call(first, { whole: 42 })] },
  { what: "broken numbers", calls: [call(first, { broken: -2.5 })] },
  { what: "true", calls: [call(first, { yes: true })] },
  { what: "false", calls: [call(first, { yes: false })] },
  { what: "null", calls: [call(first, { nothing: null })] },
  { what: "lists of texts", calls: [call(first, { list: ["red", "dark blue"] })] },
  { what: "lists of numbers", calls: [call(first, { numbers: [1, -2] })] },
  { what: "nested objects", calls: [call(first, { nested: { inner: "x", deep: { more: [true, false] } } })] },
  { what: "empty texts", calls: [call(first, { [key]: "" })] },
  { what: "texts of several lines", calls: [call(first, { [key]: "one\n  two\nthree" })] },
  { what: "quotes and backslashes", calls: [call(first, { [key]: `say "hi", don't C:\\new` })] },
  { what: "tags in texts", calls: PLAIN.tags },
  { what: "letters beyond ASCII", calls: [call(first, { [key]: "Zürich 東京 🦜" })] },
  { what: "texts that look like numbers", calls: [call(first, { [key]: "007" })] },
]

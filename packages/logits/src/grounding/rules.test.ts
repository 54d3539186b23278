import { describe, expect, it } from "vitest"
import { grammarToGbnf } from "../gbnf/from-grammar.ts"
import { matchesGbnf } from "../gbnf/index.ts"
import { grammarOf } from "../grammar/rules.ts"
import { DEFAULT_KEYS } from "../grammar/tool-call-schema.ts"
import { toolCallExpression } from "../constraint/tool-calls.ts"
import { createMatcher } from "../matcher/index.ts"
import type { JsonSchema } from "../schema/json-schema.ts"
import { bindGrammar, ungrounded } from "./bind.ts"
import type { GroundingRules } from "./model.ts"
import { groundedBy, groundingKey, groundSchema } from "./rules.ts"

const STRING = { type: "string" }
const WHOLE = { type: "integer" }
const object = (properties: Record<string, JsonSchema>, required: string[] = Object.keys(properties)): JsonSchema => ({
  type: "object",
  properties,
  required,
})

/** Whether calls of tools, grounded by rules, have these arguments. */
function calls(tools: Record<string, JsonSchema>, rules: GroundingRules, text: string) {
  const grounding = { text, rules }
  const list = Object.entries(tools).map(([name, parameters]) => ({ name, parameters }))
  const grammar = bindGrammar(grammarOf(toolCallExpression(list, DEFAULT_KEYS, { grounding })), grounding)
  const gbnf = grammarToGbnf(grammar)
  const has = (name: string, args: unknown): boolean => {
    const call = `{"name":${JSON.stringify(name)},"args":${JSON.stringify(args)}}`
    const matcher = createMatcher(grammar)
    const verdict = matcher.accept(call) && matcher.isComplete()
    expect([call, matchesGbnf(gbnf, call)]).toEqual([call, verdict])
    return verdict
  }
  return { has, grammar }
}

describe("rules", () => {
  it("what is named goes before what is not, the tool before the argument", () => {
    const rules: GroundingRules = {
      "*": { "*": "span", path: "path" },
      read: { "*": "number" },
      write: { content: { kind: "span", also: [""] } },
    }
    expect([
      groundedBy(rules, "read", "path"),
      groundedBy(rules, "write", "path"),
      groundedBy(rules, "other", "x"),
      groundedBy({}, "read", "path"),
      groundedBy({ "*": {} }, "toString", "constructor"),
    ]).toEqual(["number", "path", "span", undefined, undefined])
  })

  it("reach an argument in every branch, its items, and no deeper", () => {
    const tool: JsonSchema = {
      type: "object",
      oneOf: [
        object({ action: { const: "a" }, path: STRING }),
        object({ action: { const: "b" }, path: { type: "array", items: STRING }, edit: object({ path: STRING }) }),
      ],
    }
    const { has } = calls({ tool }, { tool: { path: "path" } }, "see a.txt")
    expect([has("tool", { action: "a", path: "a.txt" }), has("tool", { action: "a", path: "b.txt" })]).toEqual([
      true,
      false,
    ])
    expect([
      has("tool", { action: "b", path: ["a.txt"], edit: { path: "free" } }),
      has("tool", { action: "b", path: ["b.txt"], edit: { path: "free" } }),
    ]).toEqual([true, false])
  })

  it("go before an annotation where they name the argument, after it where they do not", () => {
    const one = { one: object({ a: { ...STRING, grounded: "number" } }) }
    const named = calls(one, { "*": { a: "span" } }, "take 5 of them")
    expect([named.has("one", { a: "take 5" }), named.has("one", { a: "5" }), named.has("one", { a: "6" })]).toEqual([
      true,
      true,
      false,
    ])
    const all = calls(one, { "*": { "*": "span" } }, "take 5 of them")
    expect([all.has("one", { a: "take 5" }), all.has("one", { a: "5" })]).toEqual([false, true])
  })

  it("of a number reach strings and numbers, of a span strings alone", () => {
    const { has } = calls({ tool: object({ a: STRING, b: WHOLE }) }, { tool: { "*": "span" } }, "one 2")
    expect([has("tool", { a: "one", b: 7 }), has("tool", { a: "two", b: 2 })]).toEqual([true, false])
    const numbers = calls({ tool: object({ a: STRING, b: WHOLE }) }, { tool: { "*": "number" } }, "one 2")
    expect([
      numbers.has("tool", { a: "2", b: 2 }),
      numbers.has("tool", { a: "one", b: 2 }),
      numbers.has("tool", { a: "2", b: 7 }),
    ]).toEqual([true, false, false])
  })

  it("may allow other constants in the next request, without the grammar being made anew", () => {
    const tools = [{ name: "find", parameters: object({ pattern: STRING }) }]
    const rules = (...also: string[]): GroundingRules => ({ find: { pattern: { kind: "path", also } } })
    const [first, second] = [
      { text: "all tests", rules: rules("*.ts") },
      { text: "all pages", rules: rules("*.md", "*.mdx") },
    ]
    expect(groundingKey(first)).toBe(groundingKey(second))
    const free = grammarOf(toolCallExpression(tools, DEFAULT_KEYS, { grounding: first }))
    const call = (pattern: string): string => `{"name":"find","args":{"pattern":"${pattern}"}}`
    for (const [grounding, yes, no] of [
      [first, "*.ts", "*.md"],
      [second, "*.mdx", "*.ts"],
      [first, "tests", "pages"],
    ] as const) {
      const bound = bindGrammar(free, grounding)
      for (const [pattern, expected] of [
        [yes, true],
        [no, false],
      ] as const) {
        const matcher = createMatcher(bound)
        expect([pattern, matcher.accept(call(pattern)), matchesGbnf(grammarToGbnf(bound), call(pattern))]).toEqual([
          pattern,
          expected,
          expected,
        ])
      }
    }
  })
})

describe("where the conversation has nothing", () => {
  const tools = {
    read: object({ path: STRING, head: WHOLE, tail: { type: "array", items: WHOLE } }, ["path"]),
    count: object({ limit: WHOLE }),
  }
  const rules: GroundingRules = { "*": { path: "path", head: "number", tail: "number", limit: "number" } }

  it("leaves an optional argument out and a required one free, and says so", () => {
    const without = calls(tools, rules, "read a.txt")
    expect([
      without.has("read", { path: "a.txt" }),
      without.has("read", { path: "a.txt", head: 5 }),
      without.has("read", { path: "a.txt", tail: [] }),
      without.has("count", { limit: 3 }),
    ]).toEqual([true, false, false, true])
    expect(ungrounded(without.grammar)).toEqual([
      { tool: "count", path: "#/properties/limit", reason: "of what was said, no number is allowed here" },
    ])
    const withNumber = calls(tools, rules, "read 5 of a.txt")
    expect([
      withNumber.has("read", { path: "a.txt", head: 5 }),
      withNumber.has("read", { path: "a.txt", head: 6 }),
      withNumber.has("count", { limit: 3 }),
      withNumber.has("count", { limit: 5 }),
    ]).toEqual([true, false, false, true])
    expect(ungrounded(withNumber.grammar)).toEqual([])
  })

  it("keeps what constants, other types or an enumeration give", () => {
    const some = object({ a: { type: ["integer", "null"] }, b: WHOLE, c: { ...WHOLE, enum: [1, 2] }, d: STRING }, [])
    const { has } = calls({ some }, { some: { "*": "number", b: { kind: "number", also: ["10"] } } }, "no digits")
    expect([
      has("some", { a: null }),
      has("some", { b: 10 }),
      has("some", { b: 11 }),
      has("some", { c: 2 }),
      has("some", { d: "x" }),
    ]).toEqual([true, true, false, true, false])
  })

  it("does not open an object that is left without properties", () => {
    const { has } = calls({ none: object({ n: WHOLE }, []) }, { none: { n: "number" } }, "nothing")
    expect([has("none", {}), has("none", { n: 1 }), has("none", { x: 1 })]).toEqual([true, false, false])
  })

  it("leaves the schema itself as it is", () => {
    const schema = object({ path: STRING })
    const before = JSON.stringify(schema)
    const grounded = groundSchema(schema, { text: "x", rules: { "*": { path: "path" } } }, "read")
    expect([JSON.stringify(schema), JSON.stringify(grounded)]).toEqual([before, before])
  })
})

import { describe, expect, test } from "vitest"
import { jsonNotation, type Notation, pythonNotation } from "../grammar/notation.ts"
import { chars, choice, grammarOf, literal, optional, repeat, rule, sequence, until } from "../grammar/rules.ts"
import { compileSchema, schemaToGrammar } from "../constraint/schema-grammar.ts"
import { textOrCalls, toolCallExpression } from "../constraint/tool-calls.ts"
import type { Schema } from "../schema/json-schema.ts"
import { createMatcher, type Matcher } from "./matcher.ts"

/** JSON without any white space. */
const compactJsonNotation: Notation = { ...jsonNotation, id: "compact", whitespace: "none", wholeNumbers: "plain" }

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

function accepts(matcher: Matcher, whole: string): boolean {
  matcher.reset()
  return matcher.accept(whole) && matcher.isComplete()
}

const forecast: Schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    days: { type: "integer", minimum: 1, maximum: 14 },
    unit: { enum: ["celsius", "fahrenheit"] },
  },
  required: ["city", "unit"],
}

describe("a matcher", () => {
  test("takes keys in any order, each once, and the required ones before the end", () => {
    const matcher = createMatcher(schemaToGrammar(forecast))
    expect(accepts(matcher, '{"city":"Zürich","unit":"celsius"}')).toBe(true)
    expect(accepts(matcher, '{ "unit": "celsius",\n  "days": 14, "city": "Z\\u00fcrich" }')).toBe(true)
    expect(accepts(matcher, '{"city":"a","city":"b","unit":"celsius"}')).toBe(false)
    expect(accepts(matcher, '{"city":"a"}')).toBe(false)
    expect(accepts(matcher, '{"city":"a","unit":"celsius","wind":1}')).toBe(false)
    expect(accepts(matcher, '{"city":"a","unit":"celsius","days":15}')).toBe(false)
    expect(accepts(matcher, '{"city":"a","unit":"celsius","days":1')).toBe(false)
  })

  test("reads nothing of a piece that is not allowed", () => {
    const matcher = createMatcher(schemaToGrammar(forecast))
    expect(matcher.accept('{"city":')).toBe(true)
    expect(matcher.accept('"a", "towns"')).toBe(false)
    expect(matcher.accept('"a","unit":"celsius"}')).toBe(true)
    expect(matcher.isFinished()).toBe(true)
  })

  test("knows the bytes that are forced", () => {
    const matcher = createMatcher(schemaToGrammar(forecast, { notation: compactJsonNotation }))
    expect(text(matcher.forced())).toBe('{"')
    matcher.accept('{"u')
    expect(text(matcher.forced())).toBe('nit":"')
    matcher.accept('nit":"c')
    expect(text(matcher.forced())).toBe('elsius","')
  })

  test("goes back piece by piece, and clones go their own way", () => {
    const matcher = createMatcher(schemaToGrammar(forecast))
    matcher.accept('{"city":"a",')
    const clone = matcher.clone()
    clone.accept('"unit":"celsius"}')
    expect([clone.isComplete(), matcher.isComplete()]).toEqual([true, false])
    matcher.accept('"days":1')
    matcher.rollback()
    expect(matcher.accepts('"days":2,')).toBe(true)
    clone.rollback(2)
    expect(clone.state).toBe(clone.machine.start)
    expect(() => clone.rollback()).toThrow(RangeError)
  })

  test("cuts of the same text make no difference, inside characters too", () => {
    const matcher = createMatcher(schemaToGrammar(forecast))
    const bytes = new TextEncoder().encode('{"city":"日本 🗾","unit":"celsius"}')
    for (const byte of bytes) expect(matcher.accept(Uint8Array.of(byte))).toBe(true)
    expect(matcher.isComplete()).toBe(true)
    matcher.reset()
    expect(matcher.accept(Uint8Array.of(...new TextEncoder().encode('{"city":"'), 0xff))).toBe(false)
  })
})

describe("lengths and counts", () => {
  test.each<[Schema, string, boolean]>([
    [{ type: "string", maxLength: 2 }, '"日本"', true],
    [{ type: "string", maxLength: 2 }, '"🗾🗾"', true],
    [{ type: "string", maxLength: 2 }, '"\\ud83d\\uddfe\\n"', true],
    [{ type: "string", maxLength: 2 }, '"abc"', false],
    [{ type: "string", pattern: "^a+$", minLength: 2, maxLength: 3 }, '"aa"', true],
    [{ type: "string", pattern: "^a+$", minLength: 2, maxLength: 3 }, '"aaaa"', false],
    [{ type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 3 }, "[true,false]", true],
    [{ type: "array", items: { type: "boolean" }, minItems: 2, maxItems: 3 }, "[true]", false],
    [{ type: "array", items: { type: "string" }, uniqueItems: true }, '["a","b"]', true],
    [{ type: "array", items: { type: "string" }, uniqueItems: true }, '["a","b","a"]', false],
    [{ type: "array", items: { enum: [1, 2] }, uniqueItems: true, minItems: 2 }, "[2,1]", true],
    [{ type: "array", uniqueItems: true }, '[{"a":1,"b":2},{"b":2,"a":1}]', false],
    [{ type: "object", minProperties: 2 }, '{"a":1,"a":2}', false],
    [{ type: "object", minProperties: 2 }, '{"a":1,"b":2}', true],
  ])("%j and %s: %s", (schema, instance, valid) => {
    expect(accepts(createMatcher(compileSchema(schema).grammar!), instance)).toBe(valid)
  })

  test("a text that no end could follow is not begun: the lengths of (ab)* are even", () => {
    const matcher = createMatcher(
      compileSchema({ type: "string", pattern: "^(ab)*$", minLength: 3, maxLength: 3 }).grammar!,
    )
    expect(matcher.machine.bytes(matcher.state)).toEqual([])
  })
})

describe("notations", () => {
  const tags: Notation = {
    ...compactJsonNotation,
    id: "tags",
    object: {
      open: "",
      beforeKey: "<parameter=",
      key: { kind: "delimited", open: "", close: ">\n" },
      afterKey: "",
      afterValue: "\n</parameter>\n",
      separator: "",
      close: "",
    },
    nested: {
      ...compactJsonNotation,
      id: "tag-values",
      string: { kind: "bare", stop: ["\n</parameter>"] },
      nested: compactJsonNotation,
    },
  }

  test.each<[string, Notation, Schema, string, boolean]>([
    [
      "Python",
      pythonNotation,
      { type: "object", properties: { a: { type: "boolean" }, b: { type: "null" } } },
      "{'a': True, \"b\": None}",
      true,
    ],
    ["Python", pythonNotation, { type: "object", properties: { a: { type: "boolean" } } }, "{'a': true}", false],
    [
      "raw text up to a tag",
      tags,
      forecast,
      '<parameter=city>\nSt. "Gallen"\nWest\n</parameter>\n<parameter=unit>\ncelsius\n</parameter>\n',
      true,
    ],
    ["raw text up to a tag", tags, forecast, "<parameter=city>\nBern\n</parameter>\n", false],
    [
      "raw text up to a tag",
      tags,
      forecast,
      "<parameter=unit>\nkelvin\n</parameter>\n<parameter=city>\nBern\n</parameter>\n",
      false,
    ],
    [
      "raw text up to a tag",
      tags,
      forecast,
      "<parameter=days>\n3\n</parameter>\n<parameter=unit>\ncelsius\n</parameter>\n<parameter=city>\nBern\n" +
        "</parameter>\n",
      true,
    ],
  ])("%s", (_, notation, schema, whole, valid) => {
    expect(accepts(createMatcher(schemaToGrammar(schema, { notation })), whole)).toBe(valid)
  })

  test("families that mark the type in the syntax are held to the mark", () => {
    const marked: Notation = {
      ...tags,
      id: "marked",
      object: {
        ...tags.object,
        key: { kind: "delimited", open: "", close: '"' },
        afterKey: { string: " string>", other: " other>" },
      },
    }
    const matcher = createMatcher(
      schemaToGrammar(
        { type: "object", properties: { a: { type: "string" }, n: { type: "integer" } } },
        { notation: marked },
      ),
    )
    expect(accepts(matcher, '<parameter=a" string>5\n</parameter>\n')).toBe(true)
    expect(accepts(matcher, '<parameter=n" string>5\n</parameter>\n')).toBe(false)
    expect(accepts(matcher, '<parameter=n" other>5\n</parameter>\n')).toBe(true)
  })
})

describe("grammars by hand", () => {
  test("rules, repetitions and choices, recursion in the middle", () => {
    const grammar = grammarOf(
      choice(sequence(literal("("), rule("root"), literal(")")), repeat(chars([0x61, 0x63]), 1, 3)),
    )
    const matcher = createMatcher(grammar)
    expect(["abc", "((b))", "((b)", "abca", "", "d"].map((one) => accepts(matcher, one))).toEqual([
      true,
      true,
      false,
      false,
      false,
      false,
    ])
  })

  test("empty parts in repetitions come to an end", () => {
    const matcher = createMatcher(grammarOf(sequence(repeat(optional(literal("a")), 0), literal("b"))))
    expect(["b", "aab", "a"].map((one) => accepts(matcher, one))).toEqual([true, true, false])
  })

  test("a rule that begins with itself is refused by name", () => {
    const grammar = grammarOf(rule("list"), { list: sequence(optional(literal("x")), rule("list"), literal("y")) })
    expect(() => createMatcher(grammar)).toThrow(/"list" can begin with itself/)
  })

  test("text in which calls may stand", () => {
    const call = sequence(
      literal("<call>"),
      toolCallExpression([
        { name: "ping" },
        { name: "ping_all", parameters: { type: "object", properties: { n: { type: "integer" } } } },
      ]),
      literal("</call>"),
    )
    const matcher = createMatcher(textOrCalls(call, "<call>", { many: true }))
    expect(accepts(matcher, "Nothing to do, 1 < 2.")).toBe(true)
    expect(
      accepts(
        matcher,
        'First <c <call>{"name":"ping","args":{}}</call> then <call>{"name": "ping_all", "args": {"n": 1}}</call>.',
      ),
    ).toBe(true)
    expect(accepts(matcher, '<call>{"name":"pong","args":{}}</call>')).toBe(false)
    expect(accepts(matcher, '<call>{"name":"ping_al","args":{}}</call>')).toBe(false)
    expect(accepts(matcher, '<call>{"name":"ping","args":{"n":1}}</call>')).toBe(false)
    expect(accepts(matcher, "<call>")).toBe(false)
  })

  test("a text without its marker", () => {
    const matcher = createMatcher(grammarOf(sequence(until("</a>"), literal("</a>"))))
    expect(["x</a>", "<</a>", "</</a>", "x</a>y", "x</a></a>"].map((one) => accepts(matcher, one))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })
})

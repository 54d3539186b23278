import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { complementDfa, haveCommonText } from "../automaton/dfa-algebra.ts"
import { matchesDfa } from "../automaton/dfa.ts"
import { compilePattern } from "../automaton/regex.ts"
import { pythonNotation } from "../grammar/notation.ts"
import { createMatcher, grammarToGbnf, matchesGbnf, schemaToGBNF, schemaToGrammar } from "../index.ts"
import { formatStrings } from "../schema/formats.ts"
import { listTexts } from "./languages.ts"

const VALID: Readonly<Record<string, readonly string[]>> = {
  email: ["ada@example.org", "a.b+c@mail.example.co.uk", "x_y@host"],
  hostname: ["localhost", "a.b.c.d.example.com", `${"a".repeat(63)}.example.org`],
  uri: [
    "https://example.org:8080/a/b%20c?q=1#top",
    "postgres://user:secret@host/db",
    "mailto:ada@example.org",
    "urn:x:1",
  ],
  "uri-reference": ["../a?b#c", "//host/a", "https://example.org/"],
  ipv6: ["::1", "2001:db8::8a2e:370:7334", "fe80::1:2:3:4"],
  ipv4: ["127.0.0.1", "255.255.255.0"],
  uuid: ["123e4567-e89b-12d3-a456-426614174000"],
  "date-time": ["2024-02-29T23:59:60Z", "2026-11-22T16:00:00.5+01:00"],
  date: ["2024-02-29", "1999-12-31"],
  duration: ["P3DT4H", "P2W"],
}

describe.each(Object.entries(VALID))("format %s", (format, texts) => {
  const { language } = formatStrings(format)!

  test("is written without a text that is outside of it", () => {
    for (const { tree } of language.written ?? [])
      expect(haveCommonText(compilePattern(`^(?:${sourceOf(tree)})$`), complementDfa(language))).toBe(false)
  })

  test("takes less than a kilobyte in rules, which let common values be written and no wrong ones", () => {
    const gbnf = schemaToGBNF({ type: "string", format })
    expect(gbnf.length).toBeLessThan(1000)
    for (const text of texts) {
      expect(matchesDfa(language, text)).toBe(true)
      expect(matchesGbnf(gbnf, JSON.stringify(text))).toBe(true)
      expect(matchesGbnf(gbnf, JSON.stringify(`${text}\u0000`))).toBe(false)
    }
    expect(matchesGbnf(gbnf, '"no such thing "')).toBe(false)
  })
})

test("a mail address of bounded length is written too", () => {
  const gbnf = schemaToGBNF({ type: "string", format: "email", maxLength: 255 })
  expect(gbnf.length).toBeLessThan(1000)
  expect(matchesGbnf(gbnf, '"ada.lovelace@mail.example.org"')).toBe(true)
})

test("patterns are counted, not written out, and say the same", () => {
  fc.assert(
    fc.property(
      fc.constantFrom<(string | number)[]>(
        ["^[a-z][a-z0-9_-]*$", 2, 40],
        ["^[a-z0-9-]+$", 0, 64],
        ["^[A-F\\d]{24}$", 0, Infinity],
        ["^(?:[a-z]{1,9}\\.)*[a-z]{1,9}$", 0, Infinity],
        ["^(?:[a-z]+)+\\d{9}$", 0, Infinity],
        ['^["\\\\a\\n]{2,20}$', 0, 12],
      ),
      fc.array(fc.constantFrom("a", "z", "0", "9", "-", "_", ".", "F", '"', "\\", "\n", "A"), { maxLength: 30 }),
      ([pattern, minLength, maxLength]: (string | number)[], letters) => {
        const bounds = maxLength === Infinity ? {} : { maxLength: Number(maxLength) }
        const schema = { type: "string", pattern: String(pattern), minLength: Number(minLength), ...bounds }
        const text = JSON.stringify(letters.join(""))
        const matcher = createMatcher(schemaToGrammar(schema))
        const valid = matcher.accept(text) && matcher.isComplete()
        expect(matchesGbnf(schemaToGBNF(schema), text)).toBe(valid)
      },
    ),
  )
  expect(schemaToGBNF({ type: "string", pattern: "^[a-z0-9-]+$", maxLength: 64 }).length).toBeLessThan(100)
})

test("what an engine could read in ever more ways is written state by state", () => {
  expect(compilePattern("^(?:a+)+b{9}$").written).toBeUndefined()
  expect(compilePattern("^(?:[ab]*a)*[ab]{9}$").written).toBeUndefined()
  expect(compilePattern("^(?:\\.[ab]*)*[ab]{9}$").written).toHaveLength(1)
})

test("a mark that no text can hold leaves the short form as it is", () => {
  const notation = { ...pythonNotation, id: "bare-text", string: { kind: "bare", stop: ["</p>"] } } as const
  const gbnf = grammarToGbnf(schemaToGrammar({ type: "string", format: "email" }, { notation }))
  expect(gbnf.length).toBeLessThan(1000)
  expect(matchesGbnf(gbnf, "ada@example.org")).toBe(true)
})

test("equal schemas in several tools are the same rules", () => {
  const place = {
    type: "object",
    properties: {
      id: { type: "string", format: "uuid" },
      kind: { enum: ["a", "b"] },
      at: { type: "integer", minimum: 3, maximum: 70_000 },
    },
  }
  const once = schemaToGBNF({ type: "object", properties: { a: place } }).length
  const often = schemaToGBNF({
    type: "object",
    properties: Object.fromEntries([..."abcdefghij"].map((name) => [name, structuredClone(place)])),
  }).length
  expect(often).toBeLessThan(2.5 * once)
})

test("a few texts are still listed", () => {
  expect(listTexts(compilePattern("^(red|green|blue)$"))).toEqual(["blue", "green", "red"])
  expect(schemaToGBNF({ type: "string", pattern: "^(red|green|blue)$" })).toContain('"red"')
})

type Tree = NonNullable<ReturnType<typeof compilePattern>["written"]>[number]["tree"]

/** The pattern that a tree came from, about. */
function sourceOf(node: Tree): string {
  const each = (nodes: readonly Tree[], between: string): string => nodes.map(sourceOf).join(between)
  switch (node.kind) {
    case "chars":
      return `[${node.ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("")}]`
    case "sequence":
      return each(node.parts, "")
    case "choice":
      return `(?:${each(node.options, "|")})`
    case "repeat":
      return `(?:${sourceOf(node.of)}){${node.min},${node.max ?? ""}}`
    default:
      throw new Error(`${node.kind} is not expected here`)
  }
}

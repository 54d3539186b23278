import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { GbnfNode } from "./model.ts"
import { createGbnfMatcher, matchesGbnf } from "./matcher.ts"
import { printGbnf } from "./print.ts"

describe("matchesGbnf", () => {
  const json = `root ::= value
value ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (pair ("," ws pair)*)? "}" ws
pair ::= string ":" ws value
array ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\\"" ([^"\\\\\\x00-\\x1F] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\\"" ws
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ws
ws ::= [ \\t\\n]*`

  it("follows nested structure", () => {
    expect(matchesGbnf(json, '{"a": [1, {"b": "c\\u00e9 ]}"}, -2.50, null]}')).toBe(true)
    for (const wrong of ['{"a": [1, }', '{"a": 01}', '["x\ny"]', '{"a": 1', '{"a": 1}}'])
      expect(matchesGbnf(json, wrong)).toBe(false)
  })

  it("follows deep nesting and long text", () => {
    expect(matchesGbnf(json, `${"[".repeat(5000)}${"]".repeat(5000)}`)).toBe(true)
    expect(matchesGbnf(json, JSON.stringify("x".repeat(50_000)))).toBe(true)
  })

  it("counts repetitions without unrolling them", () => {
    const grammar = 'root ::= ("a" | "bb"){3,100000}'
    expect(
      ["aa", "aaa", "abba", "a".repeat(100_000), "a".repeat(100_001)].map((text) => matchesGbnf(grammar, text)),
    ).toEqual([false, true, true, true, false])
    expect(matchesGbnf('root ::= ("a"?){1000000000} "b"', "aab")).toBe(true)
  })

  it("follows left-recursive, empty-looping and ambiguous grammars", () => {
    const left = 'root ::= root "+" root | [0-9]'
    expect(matchesGbnf(left, Array(100).fill("1").join("+"))).toBe(true)
    expect(matchesGbnf(left, "1+")).toBe(false)
    expect(matchesGbnf('root ::= ("a"?)* end\nend ::= end2 | ""\nend2 ::= end "b"', "aaabb")).toBe(true)
    // Two ways to go on at each character: without sharing there would be 2^200 stacks.
    expect(matchesGbnf('root ::= "a" root "b" | "a" root "c" | "x"', `${"a".repeat(200)}x${"bc".repeat(100)}`)).toBe(
      true,
    )
  })

  it("keeps right recursion from growing", () => {
    expect(matchesGbnf('root ::= [a-z] root | "."', `${"a".repeat(100_000)}.`)).toBe(true)
  })

  it("equals a regular expression on random expressions", () => {
    fc.assert(
      fc.property(node, fc.array(fc.stringMatching(/^[abc]{0,7}$/), { minLength: 5, maxLength: 12 }), (body, texts) => {
        const pattern = new RegExp(`^(?:${toPattern(body)})$`)
        const grammar = printGbnf({ rules: [{ name: "root", body }] })
        for (const text of texts)
          expect([grammar, text, matchesGbnf(grammar, text)]).toEqual([grammar, text, pattern.test(text)])
      }),
      { numRuns: 400 },
    )
  })
})

describe("createGbnfMatcher", () => {
  it("takes bytes of cut characters and refuses what is no UTF-8 or cannot become an allowed character", () => {
    const matcher = createGbnfMatcher("root ::= [à-ÿ😀]+")
    expect(matcher.acceptBytes(Uint8Array.of(0xc3))).toBe(true)
    expect(matcher.complete).toBe(false)
    expect(matcher.acceptBytes(Uint8Array.of(0x80))).toBe(false) // À
    expect(matcher.acceptBytes(Uint8Array.of(0xa9))).toBe(true) // é
    expect(matcher.complete).toBe(true)
    for (const wrong of [[0xc2], [0xc0, 0xa2], [0xed, 0xa0], [0xf5], [0x80], [0xf0, 0x80], [0xf0, 0x9f, 0x98, 0x81]]) {
      expect([wrong, matcher.allowsBytes(Uint8Array.from(wrong))]).toEqual([wrong, false])
    }
    expect(matcher.allowsBytes(Uint8Array.of(0xf0, 0x9f, 0x98, 0x80))).toBe(true)
  })

  it("goes back and branches", () => {
    const matcher = createGbnfMatcher('root ::= "a" ("b" | "c") "d"')
    matcher.acceptText("a")
    const branch = matcher.clone()
    expect([
      matcher.acceptText("b"),
      matcher.acceptText("x"),
      branch.acceptText("cd"),
      branch.complete,
      branch.open,
    ]).toEqual([true, false, true, true, false])
    matcher.rollback()
    expect(matcher.acceptText("cd") && matcher.complete).toBe(true)
    expect(() => matcher.rollback(5)).toThrow(expect.objectContaining({ code: "INVALID_ROLLBACK" }))
  })

  it("takes tokens where the grammar names them", () => {
    const options = { tokenId: (text: string) => (text === "<think>" ? 5 : text === "</think>" ? 6 : undefined) }
    const matcher = createGbnfMatcher('root ::= <think> !</think>* </think> "ok"', options)
    const bytes = new TextEncoder().encode("<think>")
    expect(matcher.acceptBytes(bytes)).toBe(false)
    expect([5, 9, 9, 6].map((id) => matcher.acceptToken(id))).toEqual([true, true, true, true])
    expect(matcher.acceptToken(6)).toBe(false)
    expect(matcher.acceptToken(40, new TextEncoder().encode("ok"))).toBe(true)
    expect(matcher.complete).toBe(true)
    expect(() => createGbnfMatcher("root ::= <none>", options)).toThrow(
      expect.objectContaining({ code: "GBNF_INVALID" }),
    )
  })

  it("refuses to be drowned in alternatives", () => {
    const rules = Array.from(
      { length: 60 },
      (_, at) => `r${at} ::= ("a"? r${(at + 1) % 60} "b"? | "a" | r${(at + 7) % 60}){1,900}`,
    )
    const matcher = createGbnfMatcher(`root ::= r0\n${rules.join("\n")}`)
    expect(() => Array.from({ length: 50 }, () => matcher.acceptText("a"))).toThrow(
      expect.objectContaining({ code: "GRAMMAR_TOO_AMBIGUOUS" }),
    )
  })
})

const node: fc.Arbitrary<GbnfNode> = fc.letrec<{ node: GbnfNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<GbnfNode>(
      { kind: "literal", text: [97] },
      { kind: "literal", text: [98, 99] },
      { kind: "class", negated: false, ranges: [[97, 98]] },
      { kind: "class", negated: true, ranges: [[98, 98]] },
      { kind: "any" },
    ),
    fc.array(tie("node"), { minLength: 2, maxLength: 3 }).map((items) => ({ kind: "sequence" as const, items })),
    fc.array(tie("node"), { minLength: 2, maxLength: 3 }).map((options) => ({ kind: "choice" as const, options })),
    fc.tuple(tie("node"), fc.constantFrom([0], [1], [0, 1], [2, 2], [1, 3], [0, 2], [2])).map(([item, [min, max]]) => ({
      kind: "repeat" as const,
      item,
      min: min!,
      ...(max === undefined ? {} : { max }),
    })),
  ),
})).node

function toPattern(body: GbnfNode): string {
  switch (body.kind) {
    case "literal":
      return String.fromCodePoint(...body.text)
    case "class":
      return `[${body.negated ? "^" : ""}${body.ranges.map(([first, last]) => String.fromCodePoint(first) + "-" + String.fromCodePoint(last)).join("")}]`
    case "any":
      return "[^]"
    case "sequence":
      return body.items.map((item) => `(?:${toPattern(item)})`).join("")
    case "choice":
      return `(?:${body.options.map(toPattern).join("|")})`
    case "repeat":
      return `(?:${toPattern(body.item)}){${body.min},${body.max ?? ""}}`
    default:
      return ""
  }
}

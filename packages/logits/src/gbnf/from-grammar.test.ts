import { describe, expect, it } from "vitest"
import {
  choice,
  chars,
  grammarOf,
  literal,
  optional,
  repeat,
  rule,
  sequence,
  type PlainExpression,
  type PlainGrammar,
} from "../grammar/rules.ts"
import { grammarToGbnf } from "./from-grammar.ts"
import { checkGbnf } from "./check.ts"
import { matchesGbnf } from "./matcher.ts"

const plain = (start: PlainExpression, rules: Record<string, PlainExpression> = {}) =>
  grammarOf(start, rules) as PlainGrammar
const digit = chars([48, 57])

describe("grammarToGbnf", () => {
  it("writes each kind of expression, the same bytes each time", () => {
    const grammar = plain(sequence(literal('say "\n'), rule("my_item"), optional(digit)), {
      my_item: choice(chars([0x20, 0x21], [0x23, 0x10ffff]), repeat(literal("ab"), 2, 5), {
        kind: "token",
        token: "<end>",
        negated: true,
      }),
      unused: literal("x"),
    })
    const text =
      'root ::= "say \\"\\n" my-item [0-9]?\nmy-item ::= [ -!#-\\uD7FF\\uE000-\\U0010FFFF] | "ab"{2,5} | !<end>\n'
    expect(grammarToGbnf(grammar)).toBe(text)
    expect(grammarToGbnf(grammar)).toBe(text)
  })

  it("calls the start rule root and keeps other names apart", () => {
    const rules = new Map<string, PlainExpression>([
      ["a b", sequence(rule("a-b"), rule("root"))],
      ["a-b", literal("1")],
      ["root", literal("2")],
      ["a/b", literal("3")],
    ])
    expect(grammarToGbnf({ start: "a b", rules })).toBe('root ::= a-b root-2\na-b ::= "1"\nroot-2 ::= "2"\n')
  })

  it.each([
    [0, 1500],
    [3, 2500],
    [2000, 2000],
    [2345, undefined],
    [999, 4321],
  ])("writes bounds of %i to %s so that llama.cpp keeps them", (min, max) => {
    const text = grammarToGbnf(plain(sequence(repeat(digit, min, max), literal("."))))
    expect(checkGbnf(text)).toEqual([])
    const accepts = (count: number) => matchesGbnf(text, `${"7".repeat(count)}.`)
    for (const count of [min, min + 1, Math.max(min, 1001), ...(max === undefined ? [min + 3000] : [max - 1, max])])
      expect([count, accepts(count)]).toEqual([count, count >= min && count <= (max ?? Infinity)])
    if (min > 0) expect(accepts(min - 1)).toBe(false)
    if (max !== undefined) expect([accepts(max + 1), accepts(max + 1000)]).toEqual([false, false])
  })

  it("gives what is repeated often a rule of its own", () => {
    const text = grammarToGbnf(plain(repeat(sequence(digit, optional(literal(","))), 0, 900)))
    expect(text).toBe('root ::= root-part{0,900}\nroot-part ::= [0-9] ","?\n')
  })

  it("leaves out what nothing matches", () => {
    const never = chars()
    expect(
      grammarToGbnf(
        plain(choice(literal("a"), sequence(literal("b"), never), rule("loop")), {
          loop: sequence(literal("x"), rule("loop")),
        }),
      ),
    ).toBe('root ::= "a"\n')
    expect(() => grammarToGbnf(plain(never))).toThrow(
      expect.objectContaining({ code: "GRAMMAR_REFUSED", message: expect.stringContaining("no text matches it") }),
    )
  })

  it.each([
    [literal("a\0b"), "U+0000"],
    [literal("\ud800"), "half a surrogate pair"],
    [{ kind: "token", token: "[INST]", negated: false } as const, "name it by its number"],
    [choice(sequence(rule("root"), literal("a")), literal("b")), "can begin with itself"],
  ])("refuses %j, and says why", (expression, reason) => {
    expect(() => grammarToGbnf(plain(expression))).toThrow(
      expect.objectContaining({ code: "GRAMMAR_REFUSED", message: expect.stringContaining(reason) }),
    )
  })
})

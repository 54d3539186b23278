import { describe, expect, test } from "vitest"
import { schemaToGBNF } from "../gbnf/schema-to-gbnf.ts"
import { grammar } from "./index.ts"

/** As many rules as fit into a grammar of the longest kind, each of which `body` says. */
function rules(count: number, body: (at: number) => string): string {
  const lines = Array.from({ length: count }, (_, at) => `r${at.toString(36)}: ${body(at)}`)
  return ["start: r0", ...lines].join("\n")
}

const name = (at: number): string => `r${at.toString(36)}`

const SHUFFLED = Array.from({ length: 9000 }, (_, at) => (at * 7919) % 9000).map((at) => `${name(at)}: ${name(at + 1)}`)

/** Grammars that took seconds to minutes, or all memory, of whoever read them for a client. */
const TAKEN: readonly (readonly [what: string, definition: string, text: string])[] = [
  ["a chain of rules", `${rules(12_000, (at) => name(at + 1))}\n${name(12_000)}: "a"`, "a"],
  ["a chain told out of order", `start: r0\n${SHUFFLED.join("\n")}\n${name(9000)}: "a"`, "a"],
  ["a circle of rules that begin with each other", rules(6000, (at) => `${name((at + 1) % 6000)} "a" | "b"`), "ba"],
]

describe("a grammar of somebody else's", () => {
  test.each(TAKEN)("is read in time to its length: %s", (_, definition, text) => {
    expect(grammar.lark(definition).fault(text)).toBeUndefined()
  })

  const dots = "/./i ".repeat(38_000)
  const letters = "/\\p{L}/ ".repeat(24_000)
  test.each([
    ["dots in either case", () => grammar.lark(`start: ${dots}`)],
    ["letters of Unicode", () => grammar.lark(`start: ${letters}`)],
    ["letters of Unicode in either case", () => grammar.lark(`start: ${"/\\p{L}/i ".repeat(20_000)}`)],
    ["letters of Unicode in one expression", () => grammar.regex("\\p{L}\\P{L}".repeat(19_000))],
    ["a long text in either case", () => grammar.lark(`start: "${"a".repeat(190_000)}"i`)],
  ])("is refused where its classes take the memory: %s", (_, read) => {
    expect(read).toThrow(/classes hold more than 100000 ranges/)
  })

  test.each([
    ["parts that may each be nothing", 'start: x x x x x x x x\nx: "a"*'],
    ["what is ignored in two ways", 'start: "a"\n%ignore /(a|a)*/'],
    ["repetitions of repetitions", "start: /(a+)+$/"],
  ])("is not followed where every character makes more ways to read it: %s", (_, definition) => {
    const input = grammar.lark(definition)
    expect(() => input.fault("a".repeat(3000))).toThrow(/too many ways to read the first \d{3,4} characters/)
    expect(input.fault("a".repeat(10))).toBeUndefined()
  })

  test("is followed through a long text where it is plain", () => {
    const lines = grammar.lark('start: line+\nline: ("+" | "-") /(.*)/ LF\n%import common.LF')
    expect(lines.fault("+some line of a change\n".repeat(20_000))).toBeUndefined()
  })

  test("is followed through halves of pairs as their UTF-8 has them", () => {
    const words = grammar.lark('start: "\ufffd" "😀"')
    expect(words.fault("\ud800😀")).toBeUndefined()
    expect(words.fault("\udc00\ud83d\ude00")).toBeUndefined()
    expect(words.fault("\ud800\ud800")).toContain("it leaves it at line 1, column 2")
  })

  test("is no more in a schema: letters of Unicode are refused in a pattern too", () => {
    const schema = { type: "string", pattern: "\\p{L}\\P{L}".repeat(20_000) } as const
    expect(() => schemaToGBNF(schema)).toThrow(/hold more than 100000 ranges/)
  })

  test("holds its letters of either case as before", () => {
    const either = grammar.lark('start: "Grüße"i /[a-cé]/i /ÿ./i')
    expect(either.fault("gRÜßEÉŸx")).toBeUndefined()
    expect(either.fault("grusse")).toBeDefined()
  })
})

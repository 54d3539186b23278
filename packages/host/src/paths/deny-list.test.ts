import fc from "fast-check"
import { expect, test } from "vitest"
import { compileDenyList, DEFAULT_DENY_READ, DEFAULT_DENY_WRITE } from "./deny-list.ts"

/** The rule as it is written down, with no way around it: every name folded, every pattern tried. */
function byTheRule(patterns: readonly string[], component: string): string | undefined {
  const stripped = component.normalize("NFKC").replace(/\p{Cf}/gu, "")
  const short = stripped.replace(/[. ]+$/u, "").toLowerCase()
  const name = short === "git~1" ? ".git" : short
  const matches = (pattern: string): boolean =>
    new RegExp(
      `^${pattern
        .toLowerCase()
        .replace(/[.+^${}()|[\]\\]/gu, "\\$&")
        .replace(/\*/gu, "[^]*")
        .replace(/\?/gu, "[^]")}$`,
    ).test(name)
  if (patterns.some((pattern) => pattern.startsWith("!") && matches(pattern.slice(1)))) return undefined
  return patterns.find((pattern) => !pattern.startsWith("!") && matches(pattern))
}

const CHARACTERS = "aeiknptvyzAEKPV019_-~!$ .*?[]{}ıİKſ．ａｅ\u200d\u00ad\u2060\u0301\u0338é≠="
const WORDS = [
  ["env", ".env", ".ENV", "git", ".git", "GIT~1", "git~1", "id_rsa", "ssh", ".pem", ".key", ".p12", "key", "db"],
  ["example", "node_modules", "toolwright", ".yaml", "trust.json", "", "dist", "🔑"],
].flat()
const PIECES = Array.from(CHARACTERS).concat(WORDS)
const spelled = (longest: number) =>
  fc.array(fc.constantFrom(...PIECES), { maxLength: longest }).map((pieces) => pieces.join(""))

test("what a name's two ends decide is what the whole rule decides", () => {
  const ownPatterns = fc.array(spelled(3), { maxLength: 6 })
  const lists = fc.oneof(fc.constant(DEFAULT_DENY_READ), fc.constant(DEFAULT_DENY_WRITE), ownPatterns)
  let denied = 0
  fc.assert(
    fc.property(lists, fc.array(spelled(5), { minLength: 1, maxLength: 20 }), (patterns, names) => {
      const deny = compileDenyList(patterns)
      for (const name of names) {
        const verdict = byTheRule(patterns, name)
        if (verdict !== undefined) denied += 1
        expect([name, deny.denialOf(name)]).toEqual([name, verdict])
      }
    }),
    { numRuns: 3000 },
  )
  expect(denied).toBeGreaterThan(1000)
})

test("a component is denied wherever it lies in a path", () => {
  const deny = compileDenyList(DEFAULT_DENY_READ)
  expect(deny.denialIn(["src", "deep", ".SSH. ", "config.ts"])).toBe(".ssh")
  expect(deny.denialIn(["src", ".env.example"])).toBeUndefined()
  expect(deny.denialIn([])).toBeUndefined()
})

test("a name is denied however its first and last characters are composed", () => {
  const deny = compileDenyList(["état*", "≠*", "*clé"])
  for (const [name, pattern] of [
    ["e\u0301tat.txt", "état*"],
    ["E\u0301TAT", "état*"],
    ["=\u0338x", "≠*"],
    ["ma cle\u0301", "*clé"],
    ["MA CLÉ. ", "*clé"],
  ])
    expect([name, deny.denialOf(name!)]).toEqual([name, pattern])
})

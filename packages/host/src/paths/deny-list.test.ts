import fc from "fast-check"
import { expect, test } from "vitest"
import { compileDenyList, DEFAULT_DENY_READ, DEFAULT_DENY_WRITE } from "./deny-list.ts"

const UNSEEN = /\p{Cf}|\p{DI}/u

/** A name as the laxest file system reads it, character by character. */
function lax(name: string): string {
  const seen = Array.from(name.normalize("NFKC")).filter((each) => !UNSEEN.test(each))
  const cased = seen.map((each) => each.toLowerCase().toUpperCase().toLowerCase().replace("ς", "σ"))
  const short = cased
    .join("")
    .normalize("NFKC")
    .replace(/[. ]+$/u, "")
  return short === "git~1" ? ".git" : short
}

/** The rule as it is written down, with no way around it: every name folded, every pattern tried. */
function byTheRule(patterns: readonly string[], component: string): string | undefined {
  const name = lax(component)
  const matches = (pattern: string): boolean =>
    new RegExp(
      `^${pattern
        .replace(/[.+^${}()|[\]\\]/gu, "\\$&")
        .replace(/\*/gu, "[^]*")
        .replace(/\?/gu, "[^]")}$`,
      "u",
    ).test(name)
  const wildcards = (text: string): number => text.replace(/[^*?]/gu, "").length
  const excepts = (pattern: string): boolean => {
    const folded = lax(pattern)
    const isNarrow = wildcards(folded) === wildcards(pattern) && !/[. ]$/u.test(pattern)
    return matches(isNarrow ? folded : pattern.toLowerCase())
  }
  if (patterns.some((pattern) => pattern.startsWith("!") && excepts(pattern.slice(1)))) return undefined
  return patterns.find((pattern) => !pattern.startsWith("!") && matches(lax(pattern)))
}

const CHARACTERS =
  "aeiknptvyzAEKPV019_-~!$ .*?[]{}ıİKſ．＊？ａｅßẞΣσς\u200d\u00ad\u2060\ufe0f\u034f\u3164\u0301\u0338é≠="
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
        // Of so many names `expect` looks at those alone that it has something to say of.
        const denial = deny.denialOf(name)
        if (denial !== verdict) expect([name, denial]).toEqual([name, verdict])
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

test("a name is denied in every spelling that some file system takes for it", () => {
  const deny = compileDenyList(DEFAULT_DENY_READ)
  const unseen = ["\u200d", "\u00ad", "\ufe0f", "\u034f", "\u115f", "\u17b4", "\u180b", "\u3164", "\uffa0", "\u{e0100}"]
  for (const each of unseen) {
    expect([each, deny.denialOf(`.e${each}nv`)]).toEqual([each, ".env"])
    expect([each, deny.denialOf(`server.pem${each}`)]).toEqual([each, "*.pem"])
  }
  expect(deny.denialOf(".ßh")).toBe(".ssh")
  expect(deny.denialOf(".AWſ")).toBe(".aws")
  expect(compileDenyList(["σοφος"]).denialOf("ΣΟΦΟΣ")).toBe("σοφος")
  expect(compileDenyList(["clé"]).denialOf("cle\u200d\u0301")).toBe("clé")
})

test("a pattern means at least the name that it spells", () => {
  const spellings = ["密码（旧）.txt", "ﾊﾟｽ.txt", "ﬁle", "x².txt", "cle\u0301", "notes.", "notes ", "…", "STRAẞE", "a？"]
  for (const name of spellings) expect([name, compileDenyList([name]).denialOf(name)]).toEqual([name, name])
  expect(compileDenyList(["*（机密）*"]).denialOf("計画（机密）.doc")).toBe("*（机密）*")
  expect(compileDenyList(["?.txt"]).denialOf("🔑.txt")).toBe("?.txt")
})

test("an exception becomes no wider by being read as names are", () => {
  expect(compileDenyList(["*.txt", "!公開＊.txt"]).denialOf("公開した.txt")).toBe("*.txt")
  expect(compileDenyList(["*.txt", "!*."]).denialOf("a.txt")).toBe("*.txt")
  expect(compileDenyList(["*.txt", "!（公開）.txt"]).denialOf("（公開）.txt")).toBeUndefined()
})

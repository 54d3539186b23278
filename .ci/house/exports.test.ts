import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** Exports that nothing uses but tests, and that no page names, with the reason. It only shrinks. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  NOTE_CODES: "the codes that an answer's notes may have, for those who read answers",
  expectPinned: "holds the pocket model to what it said before",
  configurationReference: "makes a page",
  decodeAnthropicResponse: "a form of an API as a pair: what is written is also read",
  toAnthropicTools: "a form of an API as a pair: what is written is also read",
  decodeGeminiResponse: "a form of an API as a pair: what is written is also read",
  toGeminiContents: "a form of an API as a pair: what is written is also read",
  toGeminiTools: "a form of an API as a pair: what is written is also read",
  decodeOllamaResponse: "a form of an API as a pair: what is written is also read",
  decodeResponsesResponse: "a form of an API as a pair: what is written is also read",
  toResponsesTools: "a form of an API as a pair: what is written is also read",
}

const files = globSync(["packages/*/src/**/*.{ts,tsx}", "bench/*.ts", "examples/**/*.ts", "training/**/*.ts"], {
  cwd: root,
})
/** What is not for use: tests, and what only tests use. The package for tests of others is for use. */
const isTest = (file: string): boolean =>
  file.endsWith(".test.ts") || (/\/(testing|fixtures)\//.test(file) && !file.startsWith("packages/testing/"))
const code = new Map(
  files
    .filter((file) => !isTest(file))
    .map((file) => [file, read(file).replaceAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "")] as const),
)
const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], { cwd: root }).map(read).join("\n")

/** How often each name stands in the code, lines that only hand it on apart. */
function countNames(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const text of code.values()) {
    const own = text.replaceAll(/export (?:type )?(?:\{[^}]*\}|\*(?: as \w+)?) from "[^"]*"/g, "")
    for (const [name] of own.matchAll(/\b[A-Za-z_]\w*\b/g)) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}

test("what is exported is used, or a page tells users of it: tests alone keep nothing alive", () => {
  const counts = countNames()
  const named = new Set(pages.match(/\b[A-Za-z_]\w*\b/g))
  const unused = [...code]
    .filter(([file]) => file.startsWith("packages/") && !file.startsWith("packages/testing/"))
    .flatMap(([, text]) => [...text.matchAll(/^export (?:async )?(?:function\*?|const|class) (\w+)/gm)])
    .map(([, name]) => name!)
    .filter((name) => counts.get(name) === 1 && !named.has(name))
  expect(code.size).toBeGreaterThan(500)
  expect(unused.filter((name) => EXCEPTIONS[name] === undefined)).toEqual([])
  expect(Object.keys(EXCEPTIONS).filter((name) => !unused.includes(name))).toEqual([])
})

import type { PathTest } from "./path-test.ts"

/**
 * Compiles a glob to a test whose time grows with the path alone (RE2), for globs that a backtracking expression could
 * take for ever on.
 * Knows `*`, `**`, `?`, `[a-z]`, `[!a-z]`, `{a,b}` and `\`; everything else stands for itself.
 */
export async function compileLinearGlob(glob: string, ignoreCase: boolean): Promise<PathTest> {
  const { RE2JS } = await import("re2js")
  const expression = RE2JS.compile(`^(?:${source(glob)})$`, RE2JS.DOTALL | (ignoreCase ? RE2JS.CASE_INSENSITIVE : 0))
  return (path) => expression.matcher(path).find()
}

const TOKEN = /\/\*\*(?=\/|$)|(?<![^/])\*\*\/|\*+|\\[\s\S]|\[[!^]?\]?[^\]/]*\]|[\s\S]/gu

const WILD: Readonly<Record<string, string>> = { "/**": "(?:/.*)?", "**/": "(?:.*/)?", "?": "[^/]" }

function source(glob: string): string {
  const balanced = isBalanced(glob)
  let depth = 0
  return [...glob.matchAll(TOKEN)]
    .map(([token]) => {
      if (token === glob && token === "**") return ".*"
      const wild = WILD[token] ?? (token.startsWith("*") ? "[^/]*" : undefined)
      if (wild !== undefined) return wild
      if (token.length > 1 && token.startsWith("[")) return classSource(token)
      if (balanced && token === "{") depth += 1
      else if (balanced && token === "}") depth -= 1
      else if (!(token === "," && depth > 0)) return escaped(token.startsWith("\\") ? token.slice(1) : token)
      return { "{": "(?:", "}": ")", ",": "|" }[token]
    })
    .join("")
}

function classSource(token: string): string {
  const inverted = /^\[[!^]/u.test(token)
  const members = token.slice(inverted ? 2 : 1, -1).replace(/[\\[\]^&~]/gu, "\\$&")
  return members === "" ? escaped(token) : `[${inverted ? "^/" : ""}${members}]`
}

function isBalanced(glob: string): boolean {
  let depth = 0
  for (const [token] of glob.matchAll(TOKEN)) {
    if (token === "{") depth += 1
    if (token === "}") depth -= 1
    if (depth < 0) return false
  }
  return depth === 0
}

function escaped(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/gu, "\\$&")
}

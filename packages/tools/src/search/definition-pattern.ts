/**
 * A regular expression for the lines that define a name in the languages of everyday code: keywords before the name
 * (functions, classes, types, constants), assignments of functions, and methods. By lines only; `navigate` reads syntax
 * trees.
 */
export function definitionPattern(name: string): string {
  const escaped = name.replace(/[\\^$.|?*+()[\]{}]/gu, "\\$&")
  const keywords = [
    "function\\*?",
    "class",
    "interface",
    "type",
    "enum",
    "namespace",
    "module",
    "trait",
    "struct",
    "union",
    "impl",
    "def",
    "fn",
    "func",
    "fun",
    "const",
    "let",
    "var",
    "val",
    "static",
    "record",
    "macro_rules!",
    "protocol",
    "object",
  ].join("|")
  const end = "(?:[^\\w$]|$)"
  const byKeyword = `(?:^|[^\\w$.])(?:${keywords})\\s+(?:\\([^)]*\\)\\s*)?(?:mut\\s+)?(?:[\\w$.]+\\.)?${escaped}${end}`
  const modifiers =
    "(?:(?:public|private|protected|internal|static|async|override|abstract|final|readonly|get|set|export|default|virtual)\\s+)*"
  const method =
    `^\\s*${modifiers}(?:[\\w$<>\\[\\],.?]+\\s+)?[*#]?${escaped}\\s*(?:<[^>]*>)?\\([^;]*\\)\\s*(?::[^;{]*|throws ` +
    `[\\w., ]+)?\\{`
  const assigned = `^\\s*(?:[\\w$]+\\.)*${escaped}\\s*[:=]\\s*(?:async\\s+)?(?:function|\\([^)]*\\)\\s*(?::[^=]*)?=>|[\\w$]+\\s*=>|lambda)`
  return `${byKeyword}|${method}|${assigned}`
}

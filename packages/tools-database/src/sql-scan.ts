import { ToolwrightError } from "@toolwright/toolbox"

/**
 * A statement at the top level of a script: its text without the semicolon, the line it begins on, and its first words.
 */
export interface SqlStatement {
  text: string
  line: number
  words: string[]
}

const WORDS_KEPT = 4

/**
 * Splits a script into statements. Strings, quoted names, comments (nested, as PostgreSQL has them), dollar quotes, and
 * the bodies of triggers and of SQL-standard functions (BEGIN … END) keep their semicolons.
 */
export function scanSql(sql: string): SqlStatement[] {
  const statements: SqlStatement[] = []
  let [start, words, depth] = [-1, [] as string[], 0]
  let [line, counted] = [1, 0]
  const finish = (end: number) => {
    if (words.length > 0) {
      for (; counted < start; counted++) if (sql[counted] === "\n") line++
      statements.push({ text: sql.slice(start, end).trim(), line, words })
    }
    ;[start, words, depth] = [-1, [], 0]
  }
  let at = 0
  while (at < sql.length) {
    const skipped = skipQuoted(sql, at)
    if (skipped > at) {
      const isComment = /^(--|\/\*)/.test(sql.slice(at, at + 2))
      if (start < 0 && !isComment) start = at
      at = skipped
      continue
    }
    const word = /^[A-Za-z_][A-Za-z0-9_$]*/.exec(sql.slice(at, at + 64))?.[0]
    if (word !== undefined) {
      if (start < 0) start = at
      const upper = word.toUpperCase()
      depth = nesting(depth, upper, words)
      if (words.length < WORDS_KEPT) words.push(upper)
      at += word.length
      while (/[A-Za-z0-9_$]/.test(sql[at] ?? "")) at++
      continue
    }
    if (sql[at] === ";" && depth === 0) finish(at)
    else if (start < 0 && !/\s/.test(sql[at] as string)) start = at
    at++
  }
  finish(sql.length)
  return statements
}

/** How deep inside BEGIN … END of a body a word is. Only statements that create something have bodies. */
function nesting(depth: number, word: string, words: readonly string[]): number {
  if (words[0] !== "CREATE") return 0
  if (word === "BEGIN" || (word === "CASE" && depth > 0)) return depth + 1
  return word === "END" && depth > 0 ? depth - 1 : depth
}

/** Where a quoted part or comment that begins here ends; `at` when none begins here. */
function skipQuoted(sql: string, at: number): number {
  const two = sql.slice(at, at + 2)
  if (two === "--") return lineEnd(sql, at)
  if (two === "/*") return commentEnd(sql, at)
  const character = sql[at]
  if (character === "'")
    return quoteEnd(sql, at, "'", /[eE]/.test(sql[at - 1] ?? "") && !/[A-Za-z0-9_]/.test(sql[at - 2] ?? ""))
  if (character === '"' || character === "`") return quoteEnd(sql, at, character, false)
  if (character === "$" && !/[A-Za-z0-9_]/.test(sql[at - 1] ?? "")) {
    const tag = /^\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$/.exec(sql.slice(at, at + 66))?.[0]
    if (tag === undefined) return at
    const end = sql.indexOf(tag, at + tag.length)
    return end < 0 ? sql.length : end + tag.length
  }
  return at
}

function lineEnd(sql: string, at: number): number {
  const end = sql.indexOf("\n", at)
  return end < 0 ? sql.length : end
}

function commentEnd(sql: string, at: number): number {
  let depth = 0
  for (let index = at; index < sql.length; index++) {
    const two = sql.slice(index, index + 2)
    if (two === "/*") depth++
    if (two === "*/" && --depth === 0) return index + 2
    if (two === "/*" || two === "*/") index++
  }
  return sql.length
}

function quoteEnd(sql: string, at: number, quote: string, withBackslashes: boolean): number {
  for (let index = at + 1; index < sql.length; index++) {
    if (withBackslashes && sql[index] === "\\") index++
    else if (sql[index] === quote) {
      if (sql[index + 1] !== quote) return index + 1
      index++
    }
  }
  return sql.length
}

/** Whether a statement begins or ends a transaction; going back to a savepoint does neither. */
function endsTransaction(words: readonly string[]): boolean {
  const [first = "", second] = words
  if (first === "START" || first === "PREPARE") return second === "TRANSACTION"
  if (first === "ROLLBACK") return !words.includes("TO")
  return ["BEGIN", "COMMIT", "END", "ABORT"].includes(first)
}

/** Whether a statement reaches another database file. */
function opensAnother(words: readonly string[]): boolean {
  const [first] = words
  return first === "ATTACH" || first === "DETACH" || (first === "VACUUM" && words.includes("INTO"))
}

/**
 * Checks what a migration must not do: end the transaction it runs in, or open other files.
 *
 * @throws ToolwrightError `INVALID_MIGRATION`, naming file and line
 */
export function checkMigration(
  file: string,
  sql: string,
  dialect: "sqlite" | "postgresql",
  isTransactional: boolean,
): void {
  const statements = scanSql(sql)
  for (const { words, line } of statements) {
    const [first] = words
    if (endsTransaction(words)) {
      throw new ToolwrightError(
        "INVALID_MIGRATION",
        `${file}, line ${line}: ${first} is not allowed; each migration runs in a transaction of its own.`,
        {
          hint: isTransactional
            ? "Remove it. Where a statement cannot run in a transaction, begin the file with '-- toolwright: " +
              "no-transaction'."
            : "Remove it.",
        },
      )
    }
    if (dialect === "sqlite" && opensAnother(words)) {
      throw new ToolwrightError(
        "INVALID_MIGRATION",
        `${file}, line ${line}: ${words.slice(0, 2).join(" ")} is not allowed; a migration works on its own ` +
          "database file only.",
      )
    }
  }
}

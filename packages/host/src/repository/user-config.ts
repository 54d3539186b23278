import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { realOf } from "../look.ts"
import { parseConfig, type ConfigEntry } from "./config-file.ts"
import { plainFileOrNothing } from "./plain-file.ts"

const MOST_BYTES = 1024 * 1024
const DEEPEST = 5

/**
 * The machine's and the user's own configuration of git, with what they include for this repository (`include.path`,
 * `includeIf.gitdir:…`). A file that cannot be read counts as empty: what comes of that is a missing name, which git
 * asks for itself.
 */
export function userConfig(
  gitDir: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigEntry[] {
  const xdg = join(env.XDG_CONFIG_HOME ?? join(homedir(), ".config"), "git/config")
  const own = env.GIT_CONFIG_GLOBAL === undefined ? [xdg, join(homedir(), ".gitconfig")] : [env.GIT_CONFIG_GLOBAL]
  const files = ["/etc/gitconfig", ...own]
  const entries: ConfigEntry[] = []
  for (const file of files) entries.push(...withIncludes(file, gitDir, 0))
  return entries
}

function withIncludes(file: string, gitDir: string, depth: number): ConfigEntry[] {
  const text = textOf(file)
  if (text === undefined || depth > DEEPEST) return []
  const entries: ConfigEntry[] = []
  for (const entry of parsed(text)) {
    const included = entry.value !== null && entry.key === "path" && isIncluded(entry, file, gitDir)
    if (included) entries.push(...withIncludes(expanded(entry.value!, dirname(file)), gitDir, depth + 1))
    else entries.push(entry)
  }
  return entries
}

function isIncluded({ section, subsection }: ConfigEntry, file: string, gitDir: string): boolean {
  if (section === "include") return subsection === undefined
  const condition = section === "includeif" ? /^gitdir(\/i)?:(.+)$/su.exec(subsection ?? "") : null
  if (condition === null) return false
  return folderPattern(condition[2]!, dirname(file), condition[1] !== undefined).test(gitDir)
}

/** A pattern of `includeIf "gitdir:…"` (git-config(1), "Conditional includes") as an expression for a whole path. */
function folderPattern(pattern: string, base: string, anyCase: boolean): RegExp {
  let full = pattern.startsWith("./") ? join(base, pattern.slice(2)) : expanded(pattern, "")
  if (!full.startsWith("/")) full = `**/${full}`
  if (pattern.endsWith("/")) full = `${full.replace(/\/$/u, "")}/**`
  const source = full.replace(PATTERN_PART, (part) => WILD[part] ?? classOf(part) ?? escaped(part))
  try {
    return new RegExp(`^${source}$`, anyCase ? "isu" : "su")
  } catch {
    // A range that runs backwards matches nothing for git either.
    return /^(?!)/
  }
}

/** What has a meaning in a pattern: wild cards, a set of characters, an escaped character, any other one. */
const PATTERN_PART = /\*\*\/|\*\*|\*|\?|\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|\\.|[^]/gu

const WILD: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" }

/** POSIX's names of sets, as far as paths have them. */
const NAMED_SETS: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  blank: " \\t",
  digit: "0-9",
  lower: "a-z",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\s",
  upper: "A-Z",
  xdigit: "A-Fa-f0-9",
}

/** A set of characters (`[a-c]`, `[!x]`, `[[:digit:]]`) as an expression has it; a slash is in none. */
function classOf(part: string): string | undefined {
  const set = /^\[([!^]?)(\]?[^]*)\]$/u.exec(part)
  if (set === null) return undefined
  const inner = set[2]!.replace(/\[:(\w+):\]|\\(.)|([^\w-])/gsu, (_, named: string, own: string, other: string) =>
    named === undefined ? (own === "-" ? "\\-" : escaped(own ?? other)) : (NAMED_SETS[named] ?? ""),
  )
  return `(?!/)[${set[1] === "" ? "" : "^"}${inner}]`
}

/** A character that stands for itself, with or without the backslash that says so. */
function escaped(part: string): string {
  const character = part.length > 1 && part.startsWith("\\") ? part.slice(1) : part
  return character.replace(/[\\^$.|+()[\]{}*?/]/gu, "\\$&")
}

function expanded(path: string, base: string): string {
  if (path.startsWith("~/")) return join(homedir(), path.slice(2))
  return base === "" ? path : resolve(base, path)
}

function parsed(text: string): ConfigEntry[] {
  try {
    return parseConfig(text)
  } catch {
    return []
  }
}

/** A user's own file may be a link, as those who keep their settings in a repository have it. */
function textOf(file: string): string | undefined {
  const real = realOf(file)
  return real === undefined ? undefined : plainFileOrNothing(real, MOST_BYTES)?.toString("utf8")
}

import { foldName, foldPattern, wildcard } from "@toolwright/toolbox"

/** Names whose content is a secret: neither read nor written, wherever below a root they lie. */
export const DEFAULT_DENY_READ: readonly string[] = [
  ".env",
  ".env.*",
  "!.env.example",
  "!.env.sample",
  "!.env.template",
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "id_rsa*",
  "id_dsa*",
  "id_ecdsa*",
  "id_ed25519*",
  ".ssh",
  ".aws",
  ".gnupg",
  ".netrc",
  ".git-credentials",
]

/**
 * What tools must not change besides the secrets: the rules that they are held to and the records of what they did,
 * repositories' own state, dependencies, build outputs, databases.
 */
export const DEFAULT_DENY_WRITE: readonly string[] = [
  "toolwright.yaml",
  ".toolwright",
  "toolwright-trust.json*",
  ".git",
  "node_modules",
  ".venv",
  "venv",
  "__pycache__",
  "dist",
  "build",
  "target",
  ".next",
  "*.db",
  "*.sqlite",
  "*.sqlite3",
]

/** A list of patterns of names, compiled. */
export interface DenyList {
  /** The pattern that forbids a name; undefined where none does. */
  denialOf(name: string): string | undefined
  /** The same for a path, of which any component may be forbidden. */
  denialIn(components: readonly string[]): string | undefined
}

/**
 * Compiles name patterns (`*` and `?`; a leading `!` makes an exception). A name is compared as the laxest file system
 * would read it: case folded, trailing dots and blanks and invisible characters dropped, so that `.GIT`, `.git.` and a
 * `.git` with a zero-width joiner are all `.git`. Patterns are read likewise, or a pattern could not mean its own name.
 *
 * A walk asks this of every entry that it meets. Most names begin and end as no pattern does, which two characters
 * tell; only the others are folded and held against the patterns.
 */
export function compileDenyList(patterns: readonly string[]): DenyList {
  const rules = patterns.map((pattern) => {
    const exception = pattern.startsWith("!")
    return { pattern, exception, name: foldPattern(exception ? pattern.slice(1) : pattern, exception) }
  })
  const exceptions = rules.filter((rule) => rule.exception)
  const denials = rules.filter((rule) => !rule.exception)
  const { first, last } = endsOf(denials.map((rule) => rule.name))
  const denialOf = (name: string): string | undefined => {
    // Beyond the tables, where characters are not plain, and for an empty name this reads undefined.
    if (first[name.charCodeAt(0)] === 0 && last[name.charCodeAt(name.length - 1)] === 0) return undefined
    const folded = foldName(name)
    const denial = denials.find((rule) => wildcard(rule.name, folded))
    if (denial === undefined) return undefined
    return exceptions.some((rule) => wildcard(rule.name, folded)) ? undefined : denial.pattern
  }
  return {
    denialOf,
    denialIn(components) {
      for (const component of components) {
        const denial = denialOf(component)
        if (denial !== undefined) return denial
      }
      return undefined
    },
  }
}

const PLAIN_CHARACTERS = 128

/**
 * By plain characters, 1 for those with which a name that one of the patterns matches may begin, or end: a pattern is
 * known by its first character, or by its last where it begins with a wildcard. A name whose ends are both plain, and
 * neither of them marked, is matched by none, whatever folding makes of what stands between.
 */
function endsOf(patterns: readonly string[]): { first: Uint8Array; last: Uint8Array } {
  const first = new Uint8Array(PLAIN_CHARACTERS)
  const last = new Uint8Array(PLAIN_CHARACTERS)
  const mark = (table: Uint8Array, character: string): void => {
    for (const spelling of [character.toLowerCase(), character.toUpperCase()]) table[spelling.charCodeAt(0)] = 1
  }
  // Folding drops these at the end, and reads `git~1` as something else.
  for (const character of [".", " ", "1"]) mark(last, character)
  for (const pattern of patterns) {
    const [begin, end] = [pattern.at(0), pattern.at(-1)]
    if (begin === undefined || end === undefined) continue
    // A plain character and the mark after it are read as one that is not plain.
    if (begin.charCodeAt(0) >= PLAIN_CHARACTERS) first.fill(1)
    else if (begin !== "*" && begin !== "?") mark(first, begin)
    else if (end !== "*" && end !== "?") mark(last, end)
    else first.fill(1)
  }
  return { first, last }
}

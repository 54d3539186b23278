import { foldName, wildcard } from "@toolwright/toolbox"

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

const MOST_REMEMBERED = 10_000

/**
 * Compiles name patterns (`*` and `?`; a leading `!` makes an exception) to a test over the components of a path below
 * its root. A component is compared as the laxest file system would read it: case folded, trailing dots and blanks and
 * invisible characters dropped, so that `.GIT`, `.git.` and a `.git` with a zero-width joiner are all `.git`.
 *
 * @returns the pattern that forbids the path, or undefined
 */
export function compileDenyList(patterns: readonly string[]): (components: readonly string[]) => string | undefined {
  const rules = patterns.map((pattern) => {
    const exception = pattern.startsWith("!")
    return { pattern, exception, name: (exception ? pattern.slice(1) : pattern).toLowerCase() }
  })
  const exceptions = rules.filter((rule) => rule.exception)
  const denials = rules.filter((rule) => !rule.exception)
  const verdicts = new Map<string, string | undefined>()
  const verdictOn = (component: string): string | undefined => {
    if (verdicts.has(component)) return verdicts.get(component)
    const name = foldName(component)
    const denial = denials.find((rule) => wildcard(rule.name, name))
    const verdict = exceptions.some((rule) => wildcard(rule.name, name)) ? undefined : denial?.pattern
    if (verdicts.size >= MOST_REMEMBERED) verdicts.clear()
    verdicts.set(component, verdict)
    return verdict
  }
  return (components) => {
    for (const component of components) {
      const verdict = verdictOn(component)
      if (verdict !== undefined) return verdict
    }
    return undefined
  }
}

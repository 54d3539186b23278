/** A diff with the names that it is about, as one run of git printed them. */
export interface NamedDiff {
  /** Every file that the diff shows something of; of a renamed one both names. */
  readonly names: readonly string[]
  readonly diff: string
}

/** `:100644 100644 <id> <id> M`, a tab, and a name or two; a merge's lines begin with two colons and are none of these. */
const ENTRY = /^:[0-7]{6} [0-7]{6} [0-9a-f]+(?:\.\.\.)? [0-9a-f]+(?:\.\.\.)? [A-Z]\d*\t(.+)$/u

/**
 * Parts what `git diff --raw --patch` prints: an entry for each file, an empty line, and the diff.
 *
 * @returns nothing where it is not that alone: in a merge, or where the list of files is not whole
 */
export function partRawDiff(text: string): NamedDiff | undefined {
  const names: string[] = []
  for (let at = 0; at < text.length;) {
    const found = text.indexOf("\n", at)
    const end = found === -1 ? text.length : found
    const line = text.slice(at, end)
    if (line === "") return { names, diff: text.slice(end + 1) }
    const entry = ENTRY.exec(line)
    if (entry === null) return undefined
    names.push(...entry[1]!.split("\t").map(plainName))
    at = end + 1
  }
  return { names, diff: "" }
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 }

/** A name that git may have put into quotes, with bytes as octal numbers (git-config(1), `core.quotePath`). */
export function plainName(name: string): string {
  if (name.length < 2 || !name.startsWith('"') || !name.endsWith('"')) return name
  const parts = name.slice(1, -1).matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gsu)
  const bytes = Array.from(parts, ([, octal, escaped, plain]) => {
    if (octal !== undefined) return Buffer.of(Number.parseInt(octal, 8))
    return escaped === undefined ? Buffer.from(plain!) : Buffer.of(ESCAPES[escaped] ?? escaped.codePointAt(0)!)
  })
  return Buffer.concat(bytes).toString("utf8")
}

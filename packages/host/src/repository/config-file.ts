/** One setting of a git configuration: `section.subsection.key`, the section and the key in lower case. */
export interface ConfigEntry {
  readonly section: string
  readonly subsection?: string
  readonly key: string
  /** null for a key without `=`, which means true. */
  readonly value: string | null
}

const ESCAPED: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b", '"': '"', "\\": "\\" }

/**
 * Reads a configuration file of git (git-config(1), "Syntax"). Includes are entries like all others: they are not
 * followed.
 *
 * @throws Error with the line where the text is no such file
 */
export function parseConfig(text: string): ConfigEntry[] {
  const reader = new Reader(text.replace(/^\uFEFF/u, "").replaceAll("\r\n", "\n"))
  const entries: ConfigEntry[] = []
  let section: Pick<ConfigEntry, "section" | "subsection"> | undefined
  for (reader.skipBlanks(); !reader.done; reader.skipBlanks()) {
    if (reader.peek() === "[") section = reader.header()
    else if (section === undefined) throw reader.wrong()
    else entries.push({ ...section, ...reader.variable() })
  }
  return entries
}

/** The lower-case name by which a setting is looked up; the subsection is left out. */
export function nameOf({ section, subsection, key }: ConfigEntry): string {
  return subsection === undefined ? `${section}.${key}` : `${section}.*.${key}`
}

/** Writes settings as a configuration file that reads as these settings and nothing else. */
export function printConfig(entries: readonly ConfigEntry[]): string {
  return entries
    .filter(({ subsection, value }) => isPrintable(subsection ?? "") && isPrintable(value ?? ""))
    .map(({ section, subsection, key, value }) => {
      const header =
        subsection === undefined ? `[${section}]` : `[${section} "${subsection.replace(/["\\]/gu, "\\$&")}"]`
      return value === null ? `${header}\n\t${key}\n` : `${header}\n\t${key} = "${value.replace(/["\\]/gu, "\\$&")}"\n`
    })
    .join("")
}

/** Control characters have no place in a name, an address or a pattern. */
function isPrintable(text: string): boolean {
  return !/[\u0000-\u001f\u007f]/u.test(text)
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get done(): boolean {
    return this.#at >= this.#text.length
  }

  peek(): string {
    return this.#text[this.#at] ?? "\n"
  }

  wrong(): Error {
    const line = this.#text.slice(0, this.#at).split("\n").length
    return new Error(`the configuration cannot be read in line ${line}`)
  }

  skipBlanks(): void {
    for (; !this.done; this.#at++) {
      if (this.peek() === "#" || this.peek() === ";") this.#skipLine()
      else if (!/\s/u.test(this.peek())) return
    }
  }

  header(): Pick<ConfigEntry, "section" | "subsection"> {
    this.#at++
    const name = this.#match(/[A-Za-z0-9.-]+/uy)
    const [section = "", ...rest] = name.split(".")
    const quoted = this.#match(/[ \t]*/uy) !== "" || this.peek() === '"' ? this.#subsection() : undefined
    if (this.peek() !== "]" || section === "") throw this.wrong()
    this.#at++
    const subsection = quoted ?? (rest.length > 0 ? rest.join(".").toLowerCase() : undefined)
    return { section: section.toLowerCase(), ...(subsection === undefined ? {} : { subsection }) }
  }

  variable(): Pick<ConfigEntry, "key" | "value"> {
    const key = this.#match(/[A-Za-z][A-Za-z0-9-]*/uy).toLowerCase()
    if (key === "") throw this.wrong()
    this.#match(/[ \t]*/uy)
    if (this.peek() === "\n" || this.peek() === "#" || this.peek() === ";") return { key, value: null }
    if (this.peek() !== "=") throw this.wrong()
    this.#at++
    this.#match(/[ \t]*/uy)
    return { key, value: this.#value() }
  }

  #subsection(): string {
    if (this.peek() !== '"') throw this.wrong()
    let name = ""
    for (this.#at++; this.peek() !== '"'; this.#at++) {
      if (this.peek() === "\\") this.#at++
      if (this.peek() === "\n") throw this.wrong()
      name += this.peek()
    }
    this.#at++
    return name
  }

  #value(): string {
    let value = ""
    let kept = 0
    let quoted = false
    for (; !this.done && (quoted || this.peek() !== "\n"); this.#at++) {
      const character = this.peek()
      if (character === "\n") throw this.wrong()
      if (character === '"') quoted = !quoted
      else if (!quoted && (character === "#" || character === ";")) {
        this.#skipLine()
        break
      } else if (character === "\\") {
        this.#at++
        if (this.peek() === "\n") continue
        value += ESCAPED[this.peek()] ?? this.#fail()
      } else value += character
      // Blanks at the end count only where they were quoted.
      if (quoted || !/[ \t]/u.test(character)) kept = value.length
    }
    if (quoted) throw this.wrong()
    return value.slice(0, kept)
  }

  #fail(): never {
    throw this.wrong()
  }

  #skipLine(): void {
    const end = this.#text.indexOf("\n", this.#at)
    this.#at = end === -1 ? this.#text.length : end
  }

  #match(expression: RegExp): string {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#text)?.[0] ?? ""
    this.#at += found.length
    return found
  }
}

import { memory } from "@toolwright/toolbox"
import { NAMED_SECRET_FORMS, type SecretForm } from "./secret-forms.ts"
import { secretsIn, type Span } from "./secret-spans.ts"
import { createWordFinder } from "./word-finder.ts"

/** What stands in a secret's place. */
export const REDACTED = "[secret]"
/** Shorter values are too likely to be ordinary words. */
const SHORTEST_VALUE = 6
const SHORTEST_LINE = 16
/** Of texts of so many characters the last one without a secret is kept in mind. */
const LONG = 1024
const LONGEST_KEPT = 256 * 1024

/** Which kinds of secrets are left as they are: names of {@link NAMED_SECRET_FORMS}. */
export interface RedactorOptions {
  readonly shown?: ReadonlySet<string>
}

/** Takes secrets out of a text. */
export interface Redactor {
  (text: string): string
  /**
   * Whether something may have to be taken out of the texts in a JSON text: a quick look, before the one that tells.
   */
  mayFindIn?(json: string): boolean
}

/**
 * Makes a function that takes secrets out of text: known values (as they are, in base64, URL-encoded, JSON-escaped) and
 * what has the form of a well-known kind of secret.
 *
 * @param values secrets known by value, such as API keys from the configuration; those under 6 characters are left out
 */
export function createRedactor(
  values: Iterable<string | undefined> = [],
  { shown = new Set() }: RedactorOptions = {},
): Redactor {
  const known = new Set<string>()
  for (const value of values) {
    if (value === undefined || value.length < SHORTEST_VALUE) continue
    for (const form of [value, ...linesOf(value)].flatMap(formsOf)) known.add(form)
  }
  const ordered = [...known].sort((a, b) => b.length - a.length)
  const spelt = [...new Set(ordered.flatMap((value) => [value, JSON.stringify(value).slice(1, -1)]))]
  /** The forms that may find something. */
  const formsFor = (text: string): readonly SecretForm[] => {
    const found = wordsIn(NAMED_SECRET_FORMS)(text)
    if (found === undefined) return []
    return NAMED_SECRET_FORMS.filter(({ name }, at) => found.has(at) && !shown.has(name))
  }
  const mayFindIn = (json: string): boolean => formsFor(json).length > 0 || spelt.some((value) => json.includes(value))
  // A result is looked through as an answer and as a record, one after the other.
  let clean = ""
  const redact = (text: string): string => {
    if (text.length < SHORTEST_VALUE || text === clean) return text
    const found = secretsIn(text, ordered, formsFor(text))
    if (found.length === 0 && text.length >= LONG && text.length <= LONGEST_KEPT) clean = text
    return without(text, found)
  }
  return Object.assign(redact, { mayFindIn })
}

function without(text: string, secrets: readonly Span[]): string {
  if (secrets.length === 0) return text
  let safe = ""
  let from = 0
  for (const { start, end } of secrets) {
    safe += text.slice(from, start) + REDACTED
    from = end
  }
  return safe + text.slice(from)
}

/** What looks for the words of all forms at once. */
const wordsIn = memory.derived((forms: readonly SecretForm[]) =>
  createWordFinder(forms.map(({ words, pattern }) => ({ words, anyCase: pattern.ignoreCase }))),
)

/** How deep a value is walked; what lies deeper is left out, since nothing that was made for people does. */
const DEEPEST = 100

/**
 * Takes secrets out of every text in plain data, names of fields too. What is no plain data stays as it is.
 *
 * @returns the value itself where it holds no secret
 */
export function redactDeep<Value>(value: Value, redact: (text: string) => string): Value {
  return walk(value, redact, 0) as Value
}

function walk(value: unknown, redact: (text: string) => string, depth: number): unknown {
  if (typeof value === "string") return redact(value)
  if (typeof value !== "object" || value === null) return value
  if (depth >= DEEPEST) return REDACTED
  if (Array.isArray(value)) {
    const list = value.map((each) => walk(each, redact, depth + 1))
    return list.every((each, at) => each === value[at]) ? value : list
  }
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) return value
  let changed = false
  const entries = Object.entries(value).map(([key, each]: [string, unknown]): [string, unknown] => {
    const entry: [string, unknown] = [redact(key), walk(each, redact, depth + 1)]
    changed ||= entry[0] !== key || entry[1] !== each
    return entry
  })
  return changed ? Object.fromEntries(entries) : value
}

/** Lines of a secret that are long enough to be known by themselves: searches and ranges give single ones. */
function linesOf(value: string): string[] {
  const lines = value.split(/\r?\n/u)
  return lines.length === 1 ? [] : lines.map((line) => line.trim()).filter((line) => line.length >= SHORTEST_LINE)
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8")
  const base64 = [0, 1, 2].map((shift) => {
    // Inside a longer text the same bytes have three spellings, by their position; the outer characters depend on
    // neighbours.
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/u, "")
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  const json = JSON.stringify(value).slice(1, -1)
  const percent = encodeURIComponent(value)
  const hex = bytes.toString("hex")
  const html = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
  const forms = [
    value,
    json,
    JSON.stringify(json).slice(1, -1),
    hex,
    hex.toUpperCase(),
    percent,
    percent.toLowerCase(),
    new URLSearchParams([["", value]]).toString().slice(1),
    html,
    html.replaceAll("'", "&#39;"),
    html.replaceAll("'", "&#x27;"),
  ]
  const long = base64.filter((text) => text.length >= SHORTEST_VALUE)
  return [...forms, ...long, ...long.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))]
}

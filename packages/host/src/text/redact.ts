import { SECRET_FORMS } from "./secret-forms.ts"

export const REDACTED = "[redacted]"
/** Shorter values are too likely to be ordinary words. */
const SHORTEST_VALUE = 6

/**
 * Makes a function that takes secrets out of text: known values (as they are, in base64, URL-encoded, JSON-escaped) and
 * what has the
 * form of a well-known kind of secret.
 *
 * @param values secrets known by value, such as API keys from the configuration; those under 6 characters are left out
 */
export function createRedactor(values: Iterable<string | undefined> = []): (text: string) => string {
  const known = new Set<string>()
  for (const value of values) {
    if (value === undefined || value.length < SHORTEST_VALUE) continue
    for (const form of formsOf(value)) known.add(form)
  }
  const ordered = [...known].sort((a, b) => b.length - a.length)
  return (text) => {
    let safe = text
    for (const value of ordered) if (safe.includes(value)) safe = safe.replaceAll(value, REDACTED)
    for (const pattern of SECRET_FORMS) safe = safe.replace(pattern, REDACTED)
    return safe
  }
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
  const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), bytes.toString("hex")]
  const long = base64.filter((text) => text.length >= SHORTEST_VALUE)
  return [...forms, ...long, ...long.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))]
}

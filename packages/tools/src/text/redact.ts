/** Forms of secrets that are recognised wherever they stand: cloud keys, tokens of code hosts, private keys, credentials in URLs. */
const PATTERNS: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/gu,
  /\bgh[pousr]_[A-Za-z0-9]{36,255}\b/gu,
  /\bgithub_pat_[A-Za-z0-9_]{22,255}\b/gu,
  /\bglpat-[A-Za-z0-9_-]{20,}/gu,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/gu,
  /\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}/gu,
  /\bAIza[0-9A-Za-z_-]{35}/gu,
  /\bntn_[A-Za-z0-9]{40,}/gu,
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|$)/gu,
  /(?<=\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s:@/]{1,100}:)[^\s@/]{1,200}(?=@)/giu,
  /(?<=\bauthorization: *(?:bearer|basic|token) +)[^\s"']+/giu,
]

export const REDACTED = "[redacted]"
/** Shorter values are too likely to be ordinary words. */
const SHORTEST_VALUE = 6

/**
 * Makes a function that takes secrets out of text: known values (as they are, in base64, URL-encoded, JSON-escaped) and what has the
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
    for (const pattern of PATTERNS) safe = safe.replace(pattern, REDACTED)
    return safe
  }
}

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value, "utf8")
  const base64 = [0, 1, 2].map((shift) => {
    // Inside a longer text the same bytes have three spellings, by their position; the outer characters depend on neighbours.
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64").replace(/=+$/u, "")
    return text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6))
  })
  const forms = [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), bytes.toString("hex")]
  const long = base64.filter((text) => text.length >= SHORTEST_VALUE)
  return [...forms, ...long, ...long.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))]
}

const UNSAFE = /["\\\u0000-\u001f]/g

const SHORT: Record<string, string> = {
  '"': '\\"',
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
}

/**
 * Text as the inside of a JSON string. Unlike `JSON.stringify` it leaves lone surrogates alone, so that escaping piece
 * by piece is the same as escaping the whole.
 */
export function escapeText(text: string): string {
  // most texts are pieces of a few code units with nothing to escape
  return text.length <= 16 && isSafe(text) ? text : escapeUnsafe(text)
}

function isSafe(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 32 || code === 34 || code === 92) return false
  }
  return true
}

function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (unit) => SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

/**
 * A value as JSON with a space after `:` and `,`, the way Python's `json.dumps` writes it and most models were trained
 * on.
 */
export function spacedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => spacedJson(item ?? null)).join(", ")}]`
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    return `{${members.map(([key, member]) => `${JSON.stringify(key)}: ${spacedJson(member)}`).join(", ")}}`
  }
  return JSON.stringify(value) ?? "null"
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#39": "'", "#34": '"' }

/** A name as an attribute writes it, its entities as what they stand for. */
export function decodeEntities(text: string): string {
  return text.includes("&") ? text.replace(/&(#?\w{2,4});/g, (entity, name: string) => ENTITIES[name] ?? entity) : text
}

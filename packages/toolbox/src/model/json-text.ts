/**
 * A value as JSON text, whatever it is: what JSON has no form for (big integers, cycles, nesting without end, getters
 * that throw) is written as a text in its place or as a note, so that a record or a line of output is never lost for
 * it.
 *
 * @param indent spaces for each level, as for `JSON.stringify`
 */
export function jsonText(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent) ?? "null"
  } catch {
    return JSON.stringify(writable(value, []), null, indent)
  }
}

/** Whether a text is whole JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const DEEPEST = 200

function writable(value: unknown, above: readonly object[]): unknown {
  if (typeof value === "bigint") return String(value)
  if (typeof value === "function" || typeof value === "symbol") return undefined
  if (typeof value !== "object" || value === null) return value
  if (above.includes(value)) return "[a cycle]"
  if (above.length >= DEEPEST) return "[nested too deeply]"
  const path = [...above, value]
  try {
    if (Array.isArray(value)) return value.map((item) => writable(item, path) ?? null)
    if (typeof (value as { toJSON?: unknown }).toJSON === "function")
      return JSON.parse(JSON.stringify(value)) as unknown
    return Object.fromEntries(Object.keys(value).map((key) => [key, writable(read(value, key), path)]))
  } catch {
    return "[cannot be written]"
  }
}

function read(value: object, key: string): unknown {
  try {
    return (value as Record<string, unknown>)[key]
  } catch {
    return "[cannot be read]"
  }
}

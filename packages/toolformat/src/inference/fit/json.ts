/** An object in a text, and where it stands. */
export interface FoundObject {
  start: number
  end: number
  value: Record<string, unknown>
}

/** The innermost JSON object, from a place on, that has all of these words in it. */
export function objectWith(text: string, words: readonly string[], from = 0): FoundObject | undefined {
  let found: FoundObject | undefined
  for (let start = text.indexOf("{", from); start >= 0; start = text.indexOf("{", start + 1)) {
    const end = endOfObject(text, start)
    if (end === undefined) continue
    const part = text.slice(start, end)
    if (!words.every((word) => part.includes(word))) {
      if (found !== undefined) break
      continue
    }
    const value = objectFrom(part)
    if (value !== undefined) found = { start, end, value }
  }
  return found
}

/** Where the object that begins here ends, quotes minded. */
function endOfObject(text: string, start: number): number | undefined {
  let depth = 0
  let quote = ""
  for (let at = start; at < text.length; at++) {
    const unit = text[at]!
    if (quote !== "") {
      if (unit === "\\") at++
      else if (unit === quote) quote = ""
    } else if (unit === '"') quote = unit
    else if (unit === "{") depth++
    else if (unit === "}" && --depth === 0) return at + 1
  }
  return undefined
}

function objectFrom(text: string): Record<string, unknown> | undefined {
  for (const candidate of [text, text.replaceAll("'", '"')]) {
    try {
      const value: unknown = JSON.parse(candidate)
      return typeof value === "object" && value !== null && !Array.isArray(value)
        ? (value as Record<string, unknown>)
        : undefined
    } catch {
      // what Python prints has other quotes
    }
  }
  return undefined
}

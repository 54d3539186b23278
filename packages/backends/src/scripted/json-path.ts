/**
 * Reads one place of a JSON value: `$.matches[0].line`, `matches[-1]["odd key"]`; the leading `$` may be left out.
 *
 * @returns the value, or undefined where the path leads nowhere (or is malformed, which {@link isJsonPath} tells)
 */
export function readJsonPath(value: unknown, path: string): unknown {
  let current = value
  for (const key of segments(path) ?? [NOWHERE]) {
    if (Array.isArray(current))
      current = typeof key === "number" ? current.at(key) : key === "length" ? current.length : undefined
    else if (typeof current === "object" && current !== null && Object.hasOwn(current, key)) {
      current = (current as Record<PropertyKey, unknown>)[key]
    } else return undefined
  }
  return current
}

/** Whether a text is a path that {@link readJsonPath} understands. */
export function isJsonPath(path: string): boolean {
  return segments(path) !== undefined
}

const NOWHERE = Symbol("nowhere")
const SEGMENT = /\.?([A-Za-z_$][\w$-]*)|\[(-?\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y

function segments(path: string): PropertyKey[] | undefined {
  const text = path.startsWith("$") && !/^\$[\w$-]/.test(path) ? path.slice(1) : path
  const found: PropertyKey[] = []
  let at = 0
  while (at < text.length) {
    SEGMENT.lastIndex = at
    const match = SEGMENT.exec(text)
    if (match === null) return undefined
    const [whole, name, index, quoted] = match
    found.push(name ?? (index === undefined ? (JSON.parse(quoted!) as string) : Number(index)))
    at += whole.length
  }
  return found
}

/**
 * The JSON value in a text: the whole of it, or the first object or array that stands in it (a result may be wrapped in
 * tags).
 */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    for (const { index } of text.matchAll(/[[{]/g)) {
      const end = endOfJson(text, index)
      if (end === undefined) continue
      try {
        return JSON.parse(text.slice(index, end))
      } catch {
        // Not JSON after all, such as a bracket in prose: look further.
      }
    }
    return undefined
  }
}

function endOfJson(text: string, start: number): number | undefined {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (inString) {
      if (character === "\\") at++
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === "{" || character === "[") depth++
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1
  }
  return undefined
}

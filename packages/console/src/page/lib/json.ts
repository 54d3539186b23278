/** Any JSON Schema, as far as a form looks at it. */
export interface Schema {
  type?: string | string[]
  title?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  examples?: unknown[]
  properties?: Record<string, Schema | boolean>
  required?: string[]
  items?: Schema | boolean
  prefixItems?: unknown
  anyOf?: (Schema | boolean)[]
  oneOf?: (Schema | boolean)[]
  allOf?: (Schema | boolean)[]
  $ref?: string
  additionalProperties?: Schema | boolean
  minimum?: number
  minItems?: number
  maximum?: number
  format?: string
  maxLength?: number
  [keyword: string]: unknown
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A value as people read it. */
export const pretty = (value: unknown): string => JSON.stringify(value, null, 2) ?? ""

/** A text as JSON, or why it is none. */
export function parse(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: JSON.parse(text) }
  } catch (thrown) {
    return { problem: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|[{}[\],:]/g

/** Keys that objects put first, in the order of their numbers, wherever they were written. */
const INDEX = /^"(?:0|[1-9]\d{0,9})"$/

/** Whether a key would stand elsewhere once its object was read. */
function moved(key: string, before: ReadonlySet<string>): boolean {
  const numbered = (name: string): number => (INDEX.test(name) ? Number(name.slice(1, -1)) : Number.POSITIVE_INFINITY)
  return INDEX.test(key) && [...before].some((name) => numbered(name) > numbered(key))
}

/**
 * What a form would lose of a text by reading it and writing it again: numbers that no double holds, keys that stand
 * twice, and the place of keys that are numbers. Such a text is left to the text editor.
 */
export function lostInForm(text: string): string | undefined {
  const open: Set<string>[] = []
  let key = false
  let last = ""
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "{") open.push(new Set())
    else if (token === "[") open.push(new Set(["[]"]))
    else if (token === "}" || token === "]") open.pop()
    if (token === ":") {
      const names = open.at(-1)
      if (names?.has(last) === true) return `the key ${last} stands twice`
      if (names !== undefined && moved(last, names)) return `the key ${last} would be moved`
      names?.add(last)
    } else if (/^[-\d]/.test(token) && numberLost(token)) return `the number ${token} would be rounded`
    key = token.startsWith('"')
    if (key) last = token
  }
  return undefined
}

/** Whether a number has another value once it was read, or is written otherwise. */
function numberLost(token: string): boolean {
  return JSON.stringify(Number(token)) !== token
}

/** Reads a path below a value. */
export function at(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<string | number, unknown>)[key] : undefined,
    value,
  )
}

/** A copy with one part changed; `undefined` takes it away. Keys keep their order. */
export function withPart(value: unknown, path: readonly (string | number)[], part: unknown): unknown {
  const [key, ...rest] = path
  if (key === undefined) return part
  if (typeof key === "number") {
    const list = Array.isArray(value) ? value.slice() : []
    if (rest.length === 0 && part === undefined) list.splice(key, 1)
    else list[key] = withPart(list[key], rest, part)
    return list
  }
  const copy: Record<string, unknown> = isObject(value) ? { ...value } : {}
  const inner = withPart(copy[key], rest, part)
  if (inner === undefined) delete copy[key]
  else Object.defineProperty(copy, key, { value: inner, enumerable: true, writable: true, configurable: true })
  return copy
}

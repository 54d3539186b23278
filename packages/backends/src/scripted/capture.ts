import type { InferRequest } from "../model/backend.ts"
import { assertionError, type Place } from "./assertion.ts"
import { jsonIn, readJsonPath } from "./json-path.ts"
import type { Capture } from "./screenplay.ts"
import { textOfSubject } from "./subjects.ts"

/**
 * Takes one value out of a request.
 *
 * @throws ToolwrightError `SCREENPLAY_ASSERTION` when it is not there, with what was
 */
export function takeCapture(name: string, capture: string | Capture, request: InferRequest, place: Place): unknown {
  const { from = "result", matches, json, as = "text" } = typeof capture === "string" ? { matches: capture } : capture
  const text = textOfSubject(request.messages, from)
  if (json !== undefined) {
    const value = readJsonPath(jsonIn(text), json)
    if (value === undefined) throw assertionError(place, `a value at ${json} for '${name}'`, text)
    return value
  }
  const match = new RegExp(matches ?? "[^]*", "m").exec(text)
  if (match === null) throw assertionError(place, `a match of /${matches}/ for '${name}'`, text)
  const found = match[1] ?? match[0]
  if (as === "text") return found
  const value: unknown = as === "number" ? Number(found) : jsonIn(found)
  if (value === undefined || Number.isNaN(value)) throw assertionError(place, `a ${as} for '${name}'`, found)
  return value
}

/** `{{name}}` is the value as text, `{{name|json}}` as JSON (a string with its quotes and escapes). */
const PLACEHOLDER = /\{\{([A-Za-z_][A-Za-z0-9_]*)(\|json)?\}\}/g

/** The names that a reply refers to. */
export function placeholdersIn(value: unknown): string[] {
  return [...JSON.stringify(value).matchAll(PLACEHOLDER)].map((match) => match[1]!)
}

/**
 * Puts captured values into a reply, in every string of it. A string that is one placeholder and nothing else becomes
 * the value itself, so that a number stays a number. Names that were not captured stay as they are.
 */
export function interpolate<Value>(value: Value, captured: ReadonlyMap<string, unknown>): Value {
  if (typeof value === "string") return fill(value, captured) as Value
  if (Array.isArray(value)) return value.map((item: unknown) => interpolate(item, captured)) as Value
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, interpolate(item, captured)])) as Value
}

function fill(text: string, captured: ReadonlyMap<string, unknown>): unknown {
  const [only] = text.matchAll(PLACEHOLDER)
  if (only !== undefined && only[0] === text && only[2] === undefined && captured.has(only[1]!))
    return captured.get(only[1]!)
  return text.replace(PLACEHOLDER, (whole, name: string, json: string | undefined) => {
    if (!captured.has(name)) return whole
    const value = captured.get(name)
    return json === undefined && typeof value === "string" ? value : JSON.stringify(value)
  })
}

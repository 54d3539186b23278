import { Failure } from "./errors.ts"
import { floatText } from "./text.ts"
import { Dict, Float, Markup, Tuple, typeName, Undefined, type Value } from "./values.ts"

/** Settings of `json.dumps` that templates use. */
export interface JsonStyle {
  indent: string | undefined
  itemSeparator: string
  keySeparator: string
  sortKeys: boolean
  ensureAscii: boolean
}

export const PLAIN_JSON: JsonStyle = {
  indent: undefined,
  itemSeparator: ", ",
  keySeparator: ": ",
  sortKeys: false,
  ensureAscii: false,
}

/** JSON as Python's `json.dumps` writes it: separators with a blank, characters as they are, floats with a point. */
export function dumpJson(value: Value, style: JsonStyle = PLAIN_JSON, level = 0): string {
  const text = value instanceof Markup ? value.text : value
  if (typeof text === "string") return jsonString(text, style)
  if (value === null) return "null"
  if (typeof value === "boolean") return String(value)
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : jsonFloat(value)
  if (value instanceof Float) return jsonFloat(value.value)
  if (Array.isArray(value))
    return enclose(
      "[",
      value.map((item) => dumpJson(item, style, level + 1)),
      "]",
      style,
      level,
    )
  if (value instanceof Dict) {
    const entries = value.entries().map(([key, item]): [string, Value] => [jsonKey(key), item])
    if (style.sortKeys) entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    const texts = entries.map(
      ([key, item]) => jsonString(key, style) + style.keySeparator + dumpJson(item, style, level + 1),
    )
    return enclose("{", texts, "}", style, level)
  }
  throw new Failure(`Object of type ${typeName(value)} is not JSON serializable`)
}

function enclose(open: string, texts: string[], close: string, style: JsonStyle, level: number): string {
  if (texts.length === 0) return open + close
  if (style.indent === undefined) return open + texts.join(style.itemSeparator) + close
  const inner = `\n${style.indent.repeat(level + 1)}`
  return open + inner + texts.join(style.itemSeparator.trimEnd() + inner) + `\n${style.indent.repeat(level)}` + close
}

function jsonString(text: string, style: JsonStyle): string {
  // JSON.stringify escapes like json.dumps, but also lone surrogates, which Python passes through.
  const quoted = `"${text.replace(/["\\\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1))}"`
  if (!style.ensureAscii) return quoted
  return quoted.replace(/[\u007f-\uffff]/g, (unit) =>
    unit === "\x7f" ? unit : `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}

function jsonFloat(value: number): string {
  if (Number.isFinite(value)) return floatText(value)
  return Number.isNaN(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity"
}

function jsonKey(key: Value): string {
  if (typeof key === "string") return key
  if (key instanceof Markup) return key.text
  if (key === null || typeof key === "boolean" || typeof key === "number" || key instanceof Float) return dumpJson(key)
  throw new Failure(`keys must be str, int, float, bool or None, not ${typeName(key)}`)
}

/** Turns JSON-like data from outside into template values; fields that are `undefined` are left out. */
export function fromData(data: unknown, depth = 0): Value {
  if (depth > 500) throw new Failure("The data is nested too deeply, or contains itself", "TEMPLATE_LIMIT")
  if (typeof data === "number") return numberFrom(data)
  if (data === null || typeof data === "boolean" || typeof data === "string") return data
  if (typeof data === "bigint") return Number(data)
  if (data === undefined) return new Undefined("The value is undefined")
  if (Array.isArray(data)) return data.map((item) => fromData(item, depth + 1))
  if (typeof data !== "object") throw new Failure(`A ${typeof data} cannot be given to a template`)
  const dict = new Dict()
  for (const key of Object.keys(data)) {
    const item = (data as Record<string, unknown>)[key]
    if (item !== undefined) dict.set(key, fromData(item, depth + 1))
  }
  return dict
}

/** From 1e21 on JSON has an exponent, which Python reads as a float. */
function numberFrom(data: number): Value {
  return Number.isInteger(data) && Math.abs(data) >= 1e21 ? new Float(data) : data
}

/** Template values as plain data, for arguments of functions that the caller provides. */
export function toData(value: Value): unknown {
  if (value instanceof Float) return value.value
  if (value instanceof Markup) return value.text
  if (value instanceof Undefined) return undefined
  if (value instanceof Tuple || Array.isArray(value)) return value.map(toData)
  if (value instanceof Dict)
    return Object.fromEntries(value.entries().map(([key, item]) => [jsonKey(key), toData(item)]))
  return value
}

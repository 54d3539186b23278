import type { Setting } from "./setting.ts"

/** A value read for a setting, or what is wrong with it. */
export type ReadValue = { value: unknown } | { wrong: string }

/** Checks a value that came from the file. */
export function checkValue(setting: Setting, value: unknown): ReadValue {
  if (!hasType(setting, value))
    return { wrong: `must be ${article(setting)}, but ${JSON.stringify(value)} stands there` }
  if (setting.values !== undefined && !setting.values.includes(value as string)) {
    return { wrong: `must be one of ${setting.values.join(", ")}, but '${String(value)}' stands there` }
  }
  if (setting.minimum !== undefined && (value as number) < setting.minimum) {
    return { wrong: `must be at least ${setting.minimum}, but ${String(value)} stands there` }
  }
  return { value }
}

/**
 * Reads a value that came as text, from a flag or a variable. A list is separated by commas, or given several times.
 */
export function readText(setting: Setting, given: string | boolean | readonly string[]): ReadValue {
  if (setting.type === "string-list") {
    const list = typeof given === "string" ? given.split(",") : given
    return { value: typeof list === "boolean" ? [] : list.map((entry) => entry.trim()).filter((entry) => entry !== "") }
  }
  const text = Array.isArray(given) ? String(given.at(-1)) : String(given)
  if (setting.type === "boolean") {
    if (/^(true|1|yes|on)$/i.test(text)) return { value: true }
    if (/^(false|0|no|off)$/i.test(text)) return { value: false }
    return { wrong: `must be true or false, but '${text}' was given` }
  }
  if (setting.type === "integer" || setting.type === "number") {
    const number = text.trim() === "" ? Number.NaN : Number(text)
    return Number.isFinite(number)
      ? checkValue(setting, number)
      : { wrong: `must be a number, but '${text}' was given` }
  }
  return checkValue(setting, text)
}

function hasType(setting: Setting, value: unknown): boolean {
  switch (setting.type) {
    case "string-list":
      return Array.isArray(value) && value.every((entry) => typeof entry === "string")
    case "integer":
      return Number.isInteger(value)
    case "number":
      return typeof value === "number" && Number.isFinite(value)
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
    default:
      return typeof value === setting.type
  }
}

const ARTICLES = {
  string: "a text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  "string-list": "a list of texts",
  object: "a mapping",
} as const

function article(setting: Setting): string {
  return ARTICLES[setting.type]
}

import { memory } from "../memory/memory.ts"

/** A text of so many characters is kept as JSON for a moment: what a call gives back is written out several times. */
const LONG = 1024
/** A longer one is not kept. */
const LONGEST_KEPT = 256 * 1024
const MOST_KEPT = 8
/** What lies near the top of a value is looked into: a result in a message, and the texts in it. */
const DEEPEST = 5
const MOST_ITEMS = 4
const MOST_KEYS = 40

/** A value as JSON, in parts: where its longest texts stand apart, each can be looked into once. */
export interface JsonParts {
  readonly json: string
  /** The same with an empty text in place of each long one. */
  readonly frame: string
  /** The long texts themselves. */
  readonly texts: readonly string[]
}

const jsonOf = memory.latest<string>(MOST_KEPT)

/**
 * A value as `JSON.stringify` writes it, in parts. A long text near its top that was written out a moment ago, in this
 * value or another one, is not written out anew.
 *
 * @returns undefined where JSON has no form for the value
 * @throws as `JSON.stringify` does
 */
export function jsonParts(value: unknown): JsonParts | undefined {
  const texts: string[] = []
  const written = writtenOut(value, texts, 0)
  return written === undefined ? undefined : { ...written, texts }
}

interface Written {
  readonly json: string
  readonly frame: string
}

function writtenOut(value: unknown, texts: string[], depth: number): Written | undefined {
  if (typeof value === "string" && value.length >= LONG) {
    texts.push(value)
    return { json: longJson(value), frame: '""' }
  }
  if (depth < DEEPEST && isFew(value)) return itemsOut(value, texts, depth)
  if (depth < DEEPEST && isPlain(value)) return fieldsOut(value, texts, depth)
  const json = JSON.stringify(value) as string | undefined
  return json === undefined ? undefined : { json, frame: json }
}

function itemsOut(items: readonly unknown[], texts: string[], depth: number): Written {
  let [json, frame] = ["", ""]
  for (let at = 0; at < items.length; at++) {
    const item = writtenOut(items[at], texts, depth + 1)
    const comma = at === 0 ? "" : ","
    json += comma + (item?.json ?? "null")
    frame += comma + (item?.frame ?? "null")
  }
  return { json: `[${json}]`, frame: `[${frame}]` }
}

function fieldsOut(fields: Readonly<Record<string, unknown>>, texts: string[], depth: number): Written {
  let [json, frame] = ["", ""]
  for (const key of Object.keys(fields)) {
    const field = writtenOut(fields[key], texts, depth + 1)
    if (field === undefined) continue
    const name = `${json === "" ? "" : ","}${JSON.stringify(key)}:`
    json += name + field.json
    frame += name + field.frame
  }
  return { json: `{${json}}`, frame: `{${frame}}` }
}

function longJson(text: string): string {
  return text.length > LONGEST_KEPT ? JSON.stringify(text) : jsonOf.get(text, () => JSON.stringify(text))
}

function isFew(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= MOST_ITEMS && !("toJSON" in value)
}

/** What `JSON.stringify` writes field by field, and has few fields. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value) || "toJSON" in value) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return (prototype === Object.prototype || prototype === null) && Object.keys(value).length <= MOST_KEYS
}

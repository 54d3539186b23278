import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"
import { escapeText, spacedJson } from "./json-text.ts"
import { admits, admittedTypes, parameterSchema } from "./schema-types.ts"
import { JSON_NOTATION, transcode } from "./value.ts"

/** A parameter's schema and the document its references point into. */
export interface Typing {
  schema: JsonSchema
  root: JsonSchema
}

/** What is known of a value of which nothing is known. */
export const ANYTHING: Typing = { schema: {}, root: {} }

/** What is known of a tool's parameter. */
export function typingOf(tool: ToolDefinition | undefined, key: string): Typing | undefined {
  const schema = parameterSchema(tool, key)
  return schema === undefined || tool === undefined ? undefined : { schema, root: tool.parameters }
}

/**
 * Whether a value that says nothing about its type is text whatever it looks like: the schema admits strings alone, or
 * nothing is known about it. Such a value can be passed on while it arrives.
 */
export function isText(typing: Typing | undefined): boolean {
  if (typing === undefined) return true
  const types = admittedTypes(typing.schema, typing.root)
  return types.size === 1 && types.has("string")
}

/**
 * The JSON text of a value that was written as text. What the schema admits decides: JSON (also with Python's literals)
 * if the schema admits what it says, else the text itself. White space around anything but text means nothing.
 */
export function coerce(text: string, typing: Typing | undefined, repaired: (what: string) => void = () => {}): string {
  const asText = `"${escapeText(text)}"`
  if (typing === undefined || isText(typing)) return asText
  const { schema, root } = typing
  const repairs: string[] = []
  const json = readValue(text, typing, (what) => repairs.push(what))
  if (json === undefined) return asText
  const textFits = admits(schema, root, text)
  const value: unknown = JSON.parse(json)
  if (admits(schema, root, value) && !(repairs.length > 0 && textFits)) {
    repairs.forEach(repaired)
    return json
  }
  if (textFits) return asText
  const inner = typeof value === "string" ? quotedValue(value, typing) : undefined
  if (inner !== undefined) {
    repaired("a value in quotes")
    return inner
  }
  return admittedTypes(schema, root).has("string") ? asText : json
}

/** What a text says as a value, whether or not the schema admits it; undefined where it is nothing but text. */
function readValue(text: string, typing: Typing, repaired: (what: string) => void): string | undefined {
  const word = text.trim()
  // a digit says a boolean only where nothing else is admitted
  const digit = word === "1" || word === "0" ? booleanDigit(word, typing) : undefined
  return digit ?? transcode(text, JSON_NOTATION, repaired) ?? looseScalar(text, typing)
}

/** A number or list in quotes, where the schema wants the number or list. */
function quotedValue(text: string, { schema, root }: Typing): string | undefined {
  const json = transcode(text, JSON_NOTATION)
  return json !== undefined && admits(schema, root, JSON.parse(json)) ? json : undefined
}

/** A boolean in words, which says nothing else where nothing else is admitted. */
const SPOKEN: Readonly<Record<string, string>> = { yes: "true", on: "true", no: "false", off: "false" }

function booleanDigit(digit: string, { schema, root }: Typing): string | undefined {
  const types = admittedTypes(schema, root)
  return types.size === 1 && types.has("boolean") ? String(digit === "1") : undefined
}

/** `TRUE` and other spellings of scalars that only the schema makes unambiguous. */
function looseScalar(text: string, { schema, root }: Typing): string | undefined {
  const types = admittedTypes(schema, root)
  const word = text.trim().toLowerCase()
  if (types.has("boolean") && (word === "true" || word === "false")) return word
  if (types.size === 1 && types.has("boolean") && Object.hasOwn(SPOKEN, word)) return SPOKEN[word]
  if (types.has("null") && !types.has("string") && (word === "" || word === "none" || word === "null")) return "null"
  return undefined
}

/**
 * A value as text from which {@link coerce} gets it back: text as it is wherever that is possible, all else as JSON.
 */
export function printText(value: unknown, typing: Typing | undefined): string {
  if (typeof value !== "string") return spacedJson(value)
  if (isText(typing) || coerce(value, typing) === JSON.stringify(value)) return value
  const quoted = JSON.stringify(value)
  return coerce(quoted, typing) === quoted ? quoted : value
}

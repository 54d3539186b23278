import type { ErrorObject } from "ajv"
import type { Repair } from "../model/events.ts"
import type { JsonObject, JsonSchema } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"

/**
 * Renames arguments that came under another spelling which the tool knows. Only data on the tool decides; nothing is
 * guessed.
 * An alias never overwrites an argument given under its own name.
 */
export function renameArguments(tool: ToolDefinition, args: JsonObject): { args: JsonObject; repairs: Repair[] } {
  const aliases = tool.aliases?.arguments
  if (aliases === undefined) return { args, repairs: [] }
  const repairs: Repair[] = []
  let renamed = args
  for (const [alias, name] of Object.entries(aliases)) {
    if (alias.includes("[].")) {
      renamed = renameInList(renamed, alias, name, repairs)
      continue
    }
    if (!Object.hasOwn(args, alias) || Object.hasOwn(renamed, name)) continue
    const { [alias]: value, ...others } = renamed
    renamed = { ...others, [name]: value }
    repairs.push({ path: name, kind: "argument-alias", from: alias, to: name })
  }
  return { args: renamed, repairs }
}

/** `list[].alias`: the alias is one of a field of each entry of a list. */
function renameInList(args: JsonObject, alias: string, name: string, repairs: Repair[]): JsonObject {
  const [list = "", field = ""] = alias.split("[].", 2)
  const entries = args[list]
  if (!Array.isArray(entries)) return args
  let changed = false
  const renamed = entries.map((entry: unknown, index) => {
    if (typeof entry !== "object" || entry === null || !Object.hasOwn(entry, field) || Object.hasOwn(entry, name))
      return entry
    const { [field]: value, ...others } = entry as JsonObject
    repairs.push({ path: `${list}.${index}.${name}`, kind: "argument-alias", from: field, to: name })
    changed = true
    return { ...others, [name]: value }
  })
  return changed ? { ...args, [list]: renamed } : args
}

/**
 * Puts right the spellings that models use for values, exactly where validation failed by type: a number or boolean in
 * a string, JSON in a string, one value where a list is wanted, null for an argument left out. The caller validates
 * again, so a repair that does not lead to a valid call is dropped.
 *
 * @returns repaired arguments (a copy), or nothing when there was nothing to try
 */
export function repairValues(
  args: JsonObject,
  errors: readonly ErrorObject[],
): { args: JsonObject; repairs: Repair[] } | undefined {
  const repairs: Repair[] = []
  const copy = structuredClone(args)
  for (const error of errors) {
    if (error.keyword !== "type") continue
    const keys = error.instancePath
      .split("/")
      .slice(1)
      .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"))
    const last = keys.pop()
    if (last === undefined) continue
    const holder = keys.reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], copy) as
      | JsonObject
      | undefined
    if (holder === undefined || !Object.hasOwn(holder, last)) continue
    const fixed = repairValue(holder[last], error.parentSchema as JsonSchema)
    if (fixed === undefined) continue
    repairs.push({ path: [...keys, last].join("."), kind: fixed.kind, from: holder[last], to: fixed.value })
    if (fixed.kind === "dropped-null") delete holder[last]
    else holder[last] = fixed.value
  }
  return repairs.length === 0 ? undefined : { args: copy, repairs }
}

type Repaired = { kind: Repair["kind"]; value?: unknown }

function repairValue(value: unknown, schema: JsonSchema): Repaired | undefined {
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  if (value === null) return { kind: "dropped-null" }
  const read = typeof value === "string" ? readText(value.trim(), types) : undefined
  if (read !== undefined) return read
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean"))
    return { kind: "coerced-type", value: String(value) }
  if (types.includes("array") && !Array.isArray(value)) return { kind: "wrapped-in-array", value: [value] }
  return undefined
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** What a text says, where it stands for a value of one of these types. */
function readText(text: string, types: readonly (string | undefined)[]): Repaired | undefined {
  if ((types.includes("number") || types.includes("integer")) && NUMBER.test(text))
    return { kind: "coerced-type", value: Number(text) }
  if (types.includes("boolean") && /^(true|false)$/i.test(text))
    return { kind: "coerced-type", value: text.toLowerCase() === "true" }
  const structured =
    (types.includes("object") && text.startsWith("{")) || (types.includes("array") && text.startsWith("["))
  const parsed = structured ? parseJson(text) : undefined
  return parsed === undefined ? undefined : { kind: "parsed-json", value: parsed }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

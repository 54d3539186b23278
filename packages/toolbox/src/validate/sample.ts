import type { JsonObject, JsonSchema } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { schemaForCall } from "./branch.ts"
import { isShort } from "./shown.ts"

/**
 * A correct call of a tool, to show to a model that made a wrong one: what was right in its arguments is kept, the rest
 * comes
 * from an example of the tool or from the schema.
 *
 * @param given the arguments of the wrong call; `valid(name)` says which of them may stay
 */
export function sampleCall(
  tool: ToolDefinition,
  given: JsonObject = {},
  valid: (name: string) => boolean = () => true,
): JsonObject {
  const argument = tool.actions?.argument
  const action = argument === undefined ? undefined : knownAction(tool, given[argument])
  const discriminated = action === undefined ? {} : { [argument as string]: action }
  const schema = withFirstBranch(schemaForCall(tool, discriminated))
  const example = exampleFor(tool, argument, action)
  const sample: JsonObject = {}
  for (const name of Object.keys(schema.properties ?? {})) {
    const required = schema.required?.includes(name) ?? false
    if (name === argument && action !== undefined) sample[name] = action
    else if (Object.hasOwn(given, name) && valid(name)) sample[name] = kept(given[name], name)
    else if (required) sample[name] = example?.[name] ?? sampleValue(schema.properties?.[name] ?? {}, name, schema)
  }
  return sample
}

/** Characters of a given value that a sample repeats. */
const LONGEST_VALUE = 300

/** A long value is not repeated, but named. */
function kept(value: unknown, name: string): unknown {
  return isShort(value, LONGEST_VALUE) ? value : `<${name}, as you gave it>`
}

/** Where a schema leaves a choice at the top, its first branch: a sample makes one call. */
function withFirstBranch(schema: JsonSchema): JsonSchema {
  const first = schema.oneOf?.[0] ?? schema.anyOf?.[0]
  if (first === undefined) return schema
  return {
    ...schema,
    properties: { ...schema.properties, ...first.properties },
    required: [...(schema.required ?? []), ...(first.required ?? [])],
  }
}

/** The sample as text, in the spelling that every format of this project accepts. */
export function sampleCallText(tool: ToolDefinition, given?: JsonObject, valid?: (name: string) => boolean): string {
  return JSON.stringify({ name: tool.name, arguments: sampleCall(tool, given, valid) })
}

function knownAction(tool: ToolDefinition, given: unknown): string | undefined {
  const list = tool.actions?.list ?? []
  return list.find(({ action }) => action === given)?.action ?? list[0]?.action
}

function exampleFor(
  tool: ToolDefinition,
  argument: string | undefined,
  action: string | undefined,
): JsonObject | undefined {
  const own = tool.actions?.list.find((entry) => entry.action === action)?.examples
  return [...(own ?? []), ...(tool.examples ?? [])].find(
    ({ input }) => argument === undefined || input[argument] === action,
  )?.input
}

function sampleValue(schema: JsonSchema, name: string, root: JsonSchema, depth = 0): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (Array.isArray(schema.examples) && schema.examples.length > 0) return schema.examples[0]
  const resolved = schema.$ref === undefined ? undefined : resolveLocal(schema.$ref, root)
  if (resolved !== undefined && depth < 4) return sampleValue(resolved, name, root, depth + 1)
  const first = schema.oneOf?.[0] ?? schema.anyOf?.[0]
  if (schema.type === undefined && first !== undefined && depth < 4) return sampleValue(first, name, root, depth + 1)
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "integer":
    case "number":
      return typeof schema.minimum === "number" ? schema.minimum : 1
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return typeof schema.items === "object" && depth < 4 ? [sampleValue(schema.items, name, root, depth + 1)] : []
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((key) => [key, sampleValue(schema.properties?.[key] ?? {}, key, root, depth + 1)]),
      )
    default:
      return `<${name}>`
  }
}

function resolveLocal(ref: string, root: JsonSchema): JsonSchema | undefined {
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref)
  return match === null ? undefined : (root[match[1]!] as Record<string, JsonSchema> | undefined)?.[match[2]!]
}

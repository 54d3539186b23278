import type { JsonObject, JsonSchema } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import { schemaForCall } from "./branch.ts"
import { isShort } from "./shown.ts"

/**
 * A correct call of a tool, to show to a model that made a wrong one: what was right in its arguments is kept, the rest
 * comes from an example of the tool or from the schema.
 *
 * @param given the arguments of the wrong call; `valid(name)` says which of them may stay
 */
export function sampleCall(
  tool: ToolDefinition,
  given: JsonObject = {},
  valid: (name: string) => boolean = () => true,
): JsonObject {
  const choice = choiceOf(tool, given)
  const { properties = {}, required = [], ...rest } = withFirstBranch(schemaForCall(tool, choice))
  const example = exampleFor(tool, choice)
  const sample: JsonObject = {}
  for (const [name, schema] of Object.entries(properties)) {
    if (Object.hasOwn(choice, name)) sample[name] = choice[name]
    else if (Object.hasOwn(given, name) && valid(name) && isOfKind(given[name], schema))
      sample[name] = kept(given[name], name)
    else if (required.includes(name))
      sample[name] = example?.[name] ?? sampleValue(schema, name, { properties, required, ...rest })
  }
  return sample
}

/** Whether a value is of the kind that a schema names: enough for a sample, which is validated like any call. */
function isOfKind(value: unknown, { type, enum: listed }: JsonSchema): boolean {
  if (listed !== undefined && !listed.includes(value as never)) return false
  if (type === undefined) return true
  const kind = value === null ? "null" : Array.isArray(value) ? "array" : typeof value
  return [type].flat().some((each) => each === kind || (each === "integer" && Number.isInteger(value)))
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

/** The action that is called or nearly named, of a tool that has several, as the argument that names it. */
function choiceOf({ actions }: ToolDefinition, given: JsonObject): JsonObject {
  if (actions === undefined) return {}
  const { argument, list } = actions
  const names = list.map((each) => each.action)
  const named = given[argument]
  const close = typeof named !== "string" ? undefined : names.includes(named) ? named : nearest(named, names)[0]
  const action = close ?? names[0]
  return action === undefined ? {} : { [argument]: action }
}

/** What an example of the tool gives to the chosen action. */
function exampleFor({ actions, examples = [] }: ToolDefinition, choice: JsonObject): JsonObject | undefined {
  const isChosen = (input: JsonObject): boolean =>
    actions === undefined || input[actions.argument] === choice[actions.argument]
  const own = actions?.list.find(({ action }) => action === choice[actions.argument])?.examples ?? []
  return [...own, ...examples].find(({ input }) => isChosen(input))?.input
}

/** How deep a sample goes. */
const DEEPEST = 4

function sampleValue(schema: JsonSchema, name: string, root: JsonSchema, depth = 0): unknown {
  const given = givenValue(schema)
  if (given !== undefined) return given.value
  const other = depth < DEEPEST ? elsewhere(schema, root) : undefined
  if (other !== undefined) return sampleValue(other, name, root, depth + 1)
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "integer":
    case "number":
      return schema.minimum ?? 1
    case "boolean":
      return true
    case "null":
      return null
    case "array":
      return typeof schema.items === "object" && depth < DEEPEST
        ? [sampleValue(schema.items, name, root, depth + 1)]
        : []
    case "object":
      return sampleObject(schema, root, depth)
    default:
      return `<${name}>`
  }
}

function sampleObject({ required = [], properties }: JsonSchema, root: JsonSchema, depth: number): JsonObject {
  return Object.fromEntries(required.map((key) => [key, sampleValue(properties?.[key] ?? {}, key, root, depth + 1)]))
}

/** A value that the schema itself gives. */
function givenValue({
  default: fallback,
  const: only,
  enum: listed,
  examples,
}: JsonSchema): { value: unknown } | undefined {
  if (fallback !== undefined) return { value: fallback }
  if (only !== undefined) return { value: only }
  if (listed !== undefined) return { value: listed[0] }
  return Array.isArray(examples) && examples.length > 0 ? { value: examples[0] } : undefined
}

/** The schema that says more: what it refers to, or its first branch where it has no type of its own. */
function elsewhere({ $ref: reference, type, oneOf, anyOf }: JsonSchema, root: JsonSchema): JsonSchema | undefined {
  const resolved = reference === undefined ? undefined : resolveLocal(reference, root)
  return resolved ?? (type === undefined ? (oneOf?.[0] ?? anyOf?.[0]) : undefined)
}

function resolveLocal(ref: string, root: JsonSchema): JsonSchema | undefined {
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref)
  return match === null ? undefined : (root[match[1]!] as Record<string, JsonSchema> | undefined)?.[match[2]!]
}

import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"

/** What a parameter takes, as far as the command line cares. `any` is tried as JSON, and is text otherwise. */
export type ParameterKind = "string" | "number" | "boolean" | "array" | "object" | "any"

/** One parameter of a tool, as a flag. */
export interface Parameter {
  /** The name in the schema. */
  name: string
  /** The name on the command line: `max_results` is `max-results`. */
  flag: string
  kind: ParameterKind
  required: boolean
  description: string
  /** Kind of an array's items. */
  items?: ParameterKind
  values?: readonly unknown[]
  fallback?: unknown
}

/** The parameters of a tool; of a multi-action tool those of all its actions together. */
export function parametersOf(tool: ToolDefinition): Parameter[] {
  const found = new Map<string, Parameter>()
  const required = new Set(tool.parameters.required ?? [])
  for (const schema of [
    tool.parameters,
    ...(tool.parameters.oneOf ?? []),
    ...(tool.parameters.anyOf ?? []),
    ...(tool.parameters.allOf ?? []),
  ]) {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const known = found.get(name)
      const read = parameter(name, property, required.has(name), tool.parameters)
      if (known === undefined) found.set(name, read)
      // Actions may use one name for different things: then only JSON or text can tell.
      else if (known.kind !== read.kind && property.const === undefined) found.set(name, { ...known, kind: "any" })
    }
  }
  return [...found.values()]
}

function parameter(name: string, property: JsonSchema, required: boolean, root: JsonSchema): Parameter {
  const schema = resolve(property, root)
  const kind = kindOf(schema, root)
  const values = schema.enum ?? (schema.const === undefined ? undefined : [schema.const])
  return {
    name,
    flag: name.replaceAll("_", "-"),
    kind,
    required,
    description: typeof property.description === "string" ? property.description : "",
    ...(kind === "array" && typeof schema.items === "object"
      ? { items: kindOf(resolve(schema.items, root), root) }
      : {}),
    ...(values === undefined ? {} : { values }),
    ...(schema.default === undefined ? {} : { fallback: schema.default }),
  }
}

function kindOf(schema: JsonSchema, root: JsonSchema): ParameterKind {
  const types = [schema.type ?? []].flat().filter((type) => type !== "null")
  if (types.length === 1) {
    const [type] = types
    return type === "integer" || type === "number" ? "number" : (type as ParameterKind)
  }
  if (types.length > 1) return types.every((type) => type === "integer" || type === "number") ? "number" : "any"
  const literal = schema.const ?? schema.enum?.[0]
  if (typeof literal === "string") return "string"
  const branches = (schema.anyOf ?? schema.oneOf ?? []).map((branch) => kindOf(resolve(branch, root), root))
  return branches.length > 0 && branches.every((kind) => kind === branches[0])
    ? branches[0]!
    : schema.properties === undefined
      ? "any"
      : "object"
}

/** Follows references into the schema's own definitions. */
function resolve(schema: JsonSchema, root: JsonSchema, depth = 0): JsonSchema {
  const match = /^#\/\$defs\/(.+)$/.exec(schema.$ref ?? "")
  const target = match === null ? undefined : root.$defs?.[match[1]!]
  return target === undefined || depth > 8 ? schema : resolve(target, root, depth + 1)
}

import type { JsonSchema } from "@toolwright/toolbox"

/** A schema as JSON Schema allows it. */
export type AnySchema = JsonSchema | boolean

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function asSchema(value: unknown): AnySchema {
  return typeof value === "boolean" || isSchema(value) ? value : {}
}

/** The schemas in a keyword that holds a list of them. */
export function schemasIn(value: unknown): AnySchema[] {
  return Array.isArray(value) ? value.map(asSchema) : []
}

/** The schemas in a keyword that holds them by name. */
export function schemaMap(value: unknown): [string, AnySchema][] {
  return isSchema(value) ? Object.entries(value).map(([name, schema]) => [name, asSchema(schema)]) : []
}

/**
 * What a reference points to inside a document: a JSON pointer, an `$anchor`, or the document's own `$id`; undefined
 * elsewhere.
 */
export function resolve(root: JsonSchema, reference: string): AnySchema | undefined {
  const ids = [root.$id, root.id].filter((id): id is string => typeof id === "string" && id !== "")
  const own = ids.find((id) => reference === id || reference.startsWith(`${id.replace(/#$/, "")}#`))
  const [, fragment = ""] =
    own === undefined ? ["", reference.startsWith("#") ? reference.slice(1) : undefined] : reference.split("#")
  if (!reference.startsWith("#") && own === undefined) {
    // A bare name may be the $id of a definition.
    return definitions(root).find((schema) => isSchema(schema) && schema.$id === reference)
  }
  if (fragment === "") return root
  if (!fragment.startsWith("/"))
    return definitions(root).find((schema) => isSchema(schema) && schema.$anchor === fragment)
  let found: unknown = root
  for (const step of fragment.slice(1).split("/")) {
    const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return typeof found === "boolean" || isSchema(found) ? found : undefined
}

function definitions(root: JsonSchema): AnySchema[] {
  return [...schemaMap(root.$defs), ...schemaMap(root.definitions)].map(([, schema]) => schema)
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

import { withoutTopCombinators, type JsonSchema } from "@toolwright/toolbox"

/** How deep a schema that refers to itself is written out, before the rest becomes "anything". */
const DEPTH = 6

/**
 * A schema without references: importers of OpenAPI documents resolve none, or only some. What refers to itself is
 * written out some levels deep. Combinators at the top, which importers drop together with everything in them, become
 * one object that admits all of their properties and requires those that every branch requires; the tool itself checks
 * the rest.
 */
export function inlineSchema(schema: JsonSchema): JsonSchema {
  const inlined = inline(schema, schema, 0) as JsonSchema
  const { $defs: _defs, definitions: _definitions, $schema: _schema, ...document } = inlined
  return withoutTopCombinators(document)
}

function inline(node: unknown, root: JsonSchema, depth: number): unknown {
  if (Array.isArray(node)) return node.map((entry) => inline(entry, root, depth))
  if (typeof node !== "object" || node === null) return node
  const { $ref, ...rest } = node as JsonSchema
  if (typeof $ref === "string") {
    if (depth >= DEPTH) return {}
    return { ...(inline(target($ref, root), root, depth + 1) as object), ...(inline(rest, root, depth) as object) }
  }
  // Importers want to be told even that a list may hold anything.
  if (isArrayType(rest.type) && rest.items === undefined) rest.items = {}
  return Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === "$defs" || key === "definitions" ? value : inline(value, root, depth),
    ]),
  )
}

function isArrayType(type: unknown): boolean {
  return type === "array" || (Array.isArray(type) && type.includes("array"))
}

function target(ref: string, root: JsonSchema): unknown {
  if (!ref.startsWith("#")) return {}
  const keys = ref
    .slice(1)
    .split("/")
    .slice(1)
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"))
  return keys.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], root) ?? {}
}

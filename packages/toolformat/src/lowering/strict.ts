import type { JsonObject, JsonSchema } from "@toolwright/toolbox"
import { lowerSchema } from "./lower.ts"
import { isSchema } from "./references.ts"

/**
 * The schema of a whole reply as strict servers take it, where it says the same to whoever reads the reply. Nothing
 * where it cannot: an object may have other properties than it names, or need not have those that it names, which would
 * come as `null` then.
 */
export function strictReplySchema(
  schema: JsonObject,
  target: "openai-strict" | "anthropic-output",
): JsonObject | undefined {
  if (hasOptional(schema, 0)) return undefined
  try {
    const { schema: lowered, losses } = lowerSchema(schema, target)
    return losses.some(({ effect }) => effect === "narrowed") ? undefined : (lowered as JsonObject)
  } catch {
    // Lists and plain values are no replies to a strict server.
    return undefined
  }
}

const DEEPEST = 200

/** Whether an object anywhere in a schema need not have all of its properties. */
function hasOptional(node: unknown, depth: number): boolean {
  if (depth > DEEPEST) return true
  if (Array.isArray(node)) return node.some((each) => hasOptional(each, depth + 1))
  if (typeof node !== "object" || node === null) return false
  const { properties, required } = node as JsonSchema
  const names = isSchema(properties) ? Object.keys(properties) : []
  const needed: unknown[] = Array.isArray(required) ? required : []
  if (names.some((name) => !needed.includes(name))) return true
  return Object.values(node).some((each) => hasOptional(each, depth + 1))
}

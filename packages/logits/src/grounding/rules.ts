/** Rules into annotations: what a schema says of grounding once rules and conversation are known. */
import { GROUNDED, type Grounded, type GroundedKind, type GroundingRules } from "@toolwright/toolbox"
import {
  isObject,
  isSchema,
  type JsonSchema,
  NAMED_SCHEMAS,
  ONE_SCHEMA,
  type Schema,
  SCHEMA_LISTS,
} from "../schema/json-schema.ts"
import { conversationOf } from "./conversation.ts"
import { annotationOf, type ToolAnnotation } from "../schema/grounded-hole.ts"
import type { Grounding } from "./model.ts"

const EVERY = "*"

/**
 * What the rules say of an argument: the tool's own entry first, then that of every tool; the argument's name before
 * "*".
 */
export function groundedBy(rules: GroundingRules, tool: string, argument: string): Grounded | undefined {
  for (const entries of [own(rules, tool), own(rules, EVERY)]) {
    const found = entries === undefined ? undefined : (own(entries, argument) ?? own(entries, EVERY))
    if (found !== undefined) return found
  }
  return undefined
}

/** Whether the rule names the argument, and does not just reach it with all others. */
const names = (rules: GroundingRules, tool: string, argument: string): boolean =>
  [own(rules, tool), own(rules, EVERY)].some((entries) => entries !== undefined && Object.hasOwn(entries, argument))

function own<Value>(object: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** What of a grounding changes how a schema is compiled: the rules' kinds, and what the conversation has none of. */
export function groundingKey({ text, rules = {} }: Grounding): string {
  const kinds = Object.entries(rules).map(([tool, entries]) => [
    tool,
    ...Object.entries(entries).map(([argument, grounded]) => [argument, kindOf(grounded), hasMore(grounded)]),
  ])
  return JSON.stringify([saysNothing(text), saysNoNumber(text), kinds])
}

const kindOf = (grounded: Grounded): GroundedKind => (typeof grounded === "string" ? grounded : grounded.kind)
const hasMore = (grounded: Grounded): boolean => typeof grounded !== "string" && (grounded.also?.length ?? 0) > 0
const saysNothing = (text: string): boolean => conversationOf(text).graph("path") === undefined
const saysNoNumber = (text: string): boolean => conversationOf(text).numbers.length === 0

/**
 * A tool's schema with the rules as annotations. An optional property is left out where the conversation has nothing
 * for it.
 *
 * @param tool the tool's name; of a schema that is no tool's, the rules for every tool count
 */
export function groundSchema<Given extends Schema>(
  schema: Given,
  { text, rules = {} }: Grounding,
  tool = EVERY,
): Given | JsonSchema {
  if (typeof schema !== "object") return schema
  const nothing = saysNothing(text)
  const noNumber = saysNoNumber(text)
  const isMissing = (grounded: Grounded): boolean => {
    const more = typeof grounded !== "string" && (hasMore(grounded) || ruleAdds(grounded as Partial<ToolAnnotation>))
    return !more && (kindOf(grounded) === "number" ? noNumber : nothing)
  }
  const ruleAdds = ({ rule }: Partial<ToolAnnotation>): boolean => {
    const ruled = rule === undefined ? undefined : groundedBy(rules, rule.tool, rule.argument)
    return ruled !== undefined && hasMore(ruled)
  }
  /** Whether every value of the schema would have to come from where there is nothing. */
  const cannotBe = (value: unknown, depth = 0): boolean => {
    if (!isObject(value) || depth > 5 || Object.hasOwn(value, "enum") || Object.hasOwn(value, "const")) return false
    if (value["type"] === "array") return cannotBe(value["items"], depth + 1)
    const grounded = annotationOf(value)
    if (grounded === undefined || !isMissing(grounded)) return false
    return kindOf(grounded) === "number"
      ? ["integer", "number", "string"].includes(String(value["type"]))
      : value["type"] === "string"
  }

  function ruled(argument: string, value: Schema): Schema {
    if (!isObject(value)) return value
    const grounded = groundedBy(rules, tool, argument)
    if (grounded === undefined || (annotationOf(value) !== undefined && !names(rules, tool, argument))) return value
    return annotate(value, { kind: kindOf(grounded), rule: { tool, argument }, tool }, 0)
  }

  /**
   * @param argument whether properties here are the tool's arguments @param required by the schemas around, of the same
   * object
   */
  function walk(node: JsonSchema, argument: boolean, required: ReadonlySet<string>): JsonSchema {
    const due = new Set([...required, ...requiredIn(node)])
    const result: Record<PropertyKey, unknown> = { ...node }
    const grounded = annotationOf(node)
    if (grounded !== undefined)
      result[GROUNDED] = {
        tool,
        ...(typeof grounded === "string" ? { kind: grounded } : grounded),
      } satisfies ToolAnnotation
    for (const [keyword, value] of Object.entries(node)) {
      const inPlace =
        keyword === "allOf" || keyword === "anyOf" || keyword === "oneOf" || keyword === "then" || keyword === "else"
      const below = (schema: unknown): unknown =>
        isObject(schema) ? walk(schema, argument && inPlace, inPlace ? due : NONE) : schema
      if (keyword === "properties" && isObject(value)) {
        const all = Object.entries(value).map(
          ([name, schema]) => [name, argument && isSchema(schema) ? ruled(name, schema) : schema] as const,
        )
        const kept = all.filter(([name, schema]) => due.has(name) || !cannotBe(schema))
        result[keyword] = Object.fromEntries(kept.map(([name, schema]) => [name, below(schema)]))
        // An object that declares no property would be open to any.
        if (kept.length < all.length && !Object.hasOwn(node, "additionalProperties"))
          result["additionalProperties"] = false
      } else if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) result[keyword] = value.map(below)
      else if (ONE_SCHEMA.has(keyword)) result[keyword] = below(value)
      else if (NAMED_SCHEMAS.has(keyword) && isObject(value))
        result[keyword] = Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, below(schema)]))
    }
    return result as JsonSchema
  }
  return walk(schema as JsonSchema, true, NONE)
}

const NONE: ReadonlySet<string> = new Set()
const DEEPEST = 20

/** The names that a schema, or any that it chooses between for the same object, requires. */
function requiredIn(node: JsonSchema, depth = 0): string[] {
  if (depth > DEEPEST) return []
  const list = node["required"]
  const names = Array.isArray(list) ? list.filter((name) => typeof name === "string") : []
  const branches = [
    node["then"],
    node["else"],
    ...["allOf", "anyOf", "oneOf"].flatMap((keyword) =>
      Array.isArray(node[keyword]) ? (node[keyword] as unknown[]) : [],
    ),
  ]
  return [...names, ...branches.flatMap((branch) => (isObject(branch) ? requiredIn(branch, depth + 1) : []))]
}

/** The annotation on a schema, and on what the items of its lists are. */
function annotate(node: JsonSchema, annotation: ToolAnnotation, depth: number): JsonSchema {
  if (depth > DEEPEST) return node
  const { items } = node
  const inside = isObject(items) ? { items: annotate(items, annotation, depth + 1) } : {}
  return { ...node, ...inside, [GROUNDED]: annotation } as JsonSchema
}

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
  return new Grounder(tool, rules, text).walk(schema as JsonSchema, true, NONE)
}

/** Writes the rules for one tool and one conversation into a schema. */
class Grounder {
  readonly #tool: string
  readonly #rules: GroundingRules
  readonly #saysNothing: boolean
  readonly #saysNoNumber: boolean

  constructor(tool: string, rules: GroundingRules, text: string) {
    this.#tool = tool
    this.#rules = rules
    this.#saysNothing = saysNothing(text)
    this.#saysNoNumber = saysNoNumber(text)
  }

  /**
   * @param argument whether properties here are the tool's arguments
   * @param required by the schemas around, of the same object
   */
  walk(node: JsonSchema, argument: boolean, required: ReadonlySet<string>): JsonSchema {
    const due = new Set([...required, ...requiredIn(node)])
    const result: Record<PropertyKey, unknown> = { ...node }
    const grounded = annotationOf(node)
    if (grounded !== undefined)
      result[GROUNDED] = {
        tool: this.#tool,
        ...(typeof grounded === "string" ? { kind: grounded } : grounded),
      } satisfies ToolAnnotation
    for (const [keyword, value] of Object.entries(node)) {
      const inPlace = IN_PLACE.has(keyword)
      const below = (schema: unknown): unknown =>
        isObject(schema) ? this.walk(schema, argument && inPlace, inPlace ? due : NONE) : schema
      if (keyword === "properties" && isObject(value)) {
        const kept = this.#properties(value, argument, due)
        result[keyword] = Object.fromEntries(kept.map(([name, schema]) => [name, below(schema)]))
        // An object that declares no property would be open to any.
        if (kept.length < Object.keys(value).length && !Object.hasOwn(node, "additionalProperties"))
          result["additionalProperties"] = false
      } else result[keyword] = schemasBelow(keyword, value, below)
    }
    return result as JsonSchema
  }

  /** The properties with their rules; without those that are optional and could have no value. */
  #properties(
    properties: JsonSchema,
    argument: boolean,
    due: ReadonlySet<string>,
  ): (readonly [name: string, schema: unknown])[] {
    return Object.entries(properties)
      .map(([name, schema]) => [name, argument && isSchema(schema) ? this.#ruled(name, schema) : schema] as const)
      .filter(([name, schema]) => due.has(name) || !this.#cannotBe(schema))
  }

  #ruled(argument: string, value: Schema): Schema {
    if (!isObject(value)) return value
    const [tool, rules] = [this.#tool, this.#rules]
    const grounded = groundedBy(rules, tool, argument)
    if (grounded === undefined || (annotationOf(value) !== undefined && !names(rules, tool, argument))) return value
    return annotate(value, { kind: kindOf(grounded), rule: { tool, argument }, tool }, 0)
  }

  /** Whether every value of the schema would have to come from where there is nothing. */
  #cannotBe(value: unknown, depth = 0): boolean {
    if (!isObject(value) || depth > 5 || Object.hasOwn(value, "enum") || Object.hasOwn(value, "const")) return false
    if (value["type"] === "array") return this.#cannotBe(value["items"], depth + 1)
    const grounded = annotationOf(value)
    if (grounded === undefined || !this.#isMissing(grounded)) return false
    return kindOf(grounded) === "number"
      ? ["integer", "number", "string"].includes(String(value["type"]))
      : value["type"] === "string"
  }

  #isMissing(grounded: Grounded): boolean {
    const more =
      typeof grounded !== "string" && (hasMore(grounded) || this.#ruleAdds(grounded as Partial<ToolAnnotation>))
    return !more && (kindOf(grounded) === "number" ? this.#saysNoNumber : this.#saysNothing)
  }

  #ruleAdds({ rule }: Partial<ToolAnnotation>): boolean {
    const ruled = rule === undefined ? undefined : groundedBy(this.#rules, rule.tool, rule.argument)
    return ruled !== undefined && hasMore(ruled)
  }
}

/** Keywords whose schemas speak of the same value. */
const IN_PLACE: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "then", "else"])

/** A keyword's value with what is made of the schemas in it. */
function schemasBelow(keyword: string, value: unknown, below: (schema: unknown) => unknown): unknown {
  if (SCHEMA_LISTS.has(keyword) && Array.isArray(value)) return value.map(below)
  if (ONE_SCHEMA.has(keyword)) return below(value)
  if (!NAMED_SCHEMAS.has(keyword) || !isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, below(schema)]))
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

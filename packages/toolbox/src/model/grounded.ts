/**
 * The annotation `grounded` of a schema: values that have to come from what was said. See `docs/grounded-arguments.md`.
 */
import { ToolwrightError } from "./errors.ts"
import type { JsonSchema } from "./schema.ts"

/** What of the conversation an argument may be. */
export type GroundedKind =
  /** Text that occurs, from a word's, quote's or bracket's border to another. */
  | "span"
  /**
   * The same without white space, or two of them joined by "/", so that a folder and a name given apart can be joined.
   */
  | "path"
  /** A whole number that occurs. */
  | "number"

/** How an argument must come from the conversation: as a kind, or as a kind with constants that are allowed besides. */
export type Grounded =
  | GroundedKind
  | {
      readonly kind: GroundedKind
      /** Also allowed, whatever the conversation says. */
      readonly also?: readonly string[]
    }

/**
 * Rules by tool and argument. `"*"` stands for every tool, or every argument; what is named goes before what is not.
 */
export type GroundingRules = Readonly<Record<string, Readonly<Record<string, Grounded>>>>

/**
 * Where a tool's definition keeps the annotation: under a symbol, so that it is never part of what is sent to a model
 * or shown as a definition, whoever prints or copies the schema.
 */
export const GROUNDED: unique symbol = Symbol.for("toolwright.grounded")

const KINDS: readonly unknown[] = ["span", "path", "number"]

/** Whether a value is a well-formed annotation. */
export function isGrounded(value: unknown): value is Grounded {
  if (typeof value !== "object" || value === null) return KINDS.includes(value)
  const { kind, also } = value as { kind?: unknown; also?: unknown }
  return (
    KINDS.includes(kind) &&
    (also === undefined || (Array.isArray(also) && also.every((one) => typeof one === "string")))
  )
}

const ONE = [
  "items",
  "additionalProperties",
  "contains",
  "not",
  "if",
  "then",
  "else",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
]
const LISTS = ["allOf", "anyOf", "oneOf", "prefixItems", "items"]
const NAMED = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]

/**
 * The schema with every annotation `grounded` under {@link GROUNDED} in place of its name; the schema itself where it
 * has none.
 *
 * @throws ToolwrightError `INVALID_TOOL` where an annotation is malformed
 */
export function hideGrounded(schema: JsonSchema): JsonSchema {
  let result = schema
  const change = (keyword: string, value: unknown): void => {
    if (value !== schema[keyword]) result = { ...result, [keyword]: value }
  }
  for (const keyword of ONE) if (isSchema(schema[keyword])) change(keyword, hideGrounded(schema[keyword]))
  for (const keyword of LISTS) {
    const list = schema[keyword]
    if (Array.isArray(list))
      change(
        keyword,
        sameOr(
          list,
          list.map((one: unknown) => (isSchema(one) ? hideGrounded(one) : one)),
        ),
      )
  }
  for (const keyword of NAMED) {
    const named = schema[keyword]
    if (!isSchema(named)) continue
    const values = Object.values(named)
    const hidden = sameOr(
      values,
      values.map((one) => (isSchema(one) ? hideGrounded(one) : one)),
    )
    if (hidden !== values)
      change(keyword, Object.fromEntries(Object.keys(named).map((name, index) => [name, hidden[index]])))
  }
  if (!Object.hasOwn(schema, "grounded")) return result
  const { grounded, ...rest } = result
  if (!isGrounded(grounded)) {
    throw new ToolwrightError("INVALID_TOOL", `The annotation grounded cannot be ${JSON.stringify(grounded)}.`, {
      hint: 'Use "span", "path" or "number", or an object such as { "kind": "path", "also": ["."] }.',
    })
  }
  return Object.assign(rest, { [GROUNDED]: grounded })
}

function sameOr<Item>(before: readonly Item[], after: readonly Item[]): readonly Item[] {
  return after.some((one, index) => one !== before[index]) ? after : before
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

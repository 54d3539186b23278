import { choice, literal, repeat, schemaExpression, sequence, type Effort, type Expression } from "@toolwright/logits"
import type { JsonSchema } from "@toolwright/toolbox"
import { admittedTypes, itemSchema, resolve, type JsonType } from "../schema-types.ts"
import { tagValue } from "./notations.ts"

const DEEPEST = 12
const EVERY_TYPE = 7

/** How a member is written: what stands before its value and after it. */
export interface MemberMarks {
  /** Several, where one of them must stand. */
  before(key: string, types: ReadonlySet<JsonType>): readonly string[]
  after(key: string): string
}

/**
 * The members of an object, each in marks that depend on it. Members may come in any order; which of them must come,
 * and how often, is left to validation.
 */
export function membersExpression(
  schema: JsonSchema,
  root: JsonSchema,
  marks: MemberMarks,
  value: (schema: JsonSchema) => Expression,
): Expression {
  const members = Array.from(propertiesOf(schema, root), ([key, member]) =>
    sequence(
      choice(...marks.before(key, admittedTypes(member, root)).map(literal)),
      value(resolve(member, root)),
      literal(marks.after(key)),
    ),
  )
  return members.length === 0 ? literal("") : repeat(choice(...members), 0)
}

/** The properties that a schema names, in all its branches; one that several name may be what any of them says. */
function propertiesOf(schema: JsonSchema, root: JsonSchema, depth = 0): Map<string, JsonSchema> {
  const { properties = {}, allOf = [], anyOf = [], oneOf = [] } = resolve(schema, root)
  const found = new Map(Object.entries(properties))
  if (depth > DEEPEST) return found
  for (const branch of [...allOf, ...anyOf, ...oneOf]) {
    for (const [key, member] of propertiesOf(branch, root, depth + 1)) {
      const known = found.get(key)
      found.set(key, known === undefined ? member : { anyOf: [known, member] })
    }
  }
  return found
}

/** What nested tags are written behind, and what may be worked out for them. */
interface NestedValues {
  readonly prefix: string
  readonly effort: Effort
}

/** A value as nested tags behind a prefix, or as its JSON. */
export function nestedExpression(schema: JsonSchema, root: JsonSchema, how: NestedValues, depth = 0): Expression {
  const { prefix, effort } = how
  const notation = tagValue("nested-tag-value", [prefix])
  const whole = schemaExpression(documentOf(schema, root), { notation, relaxed: true, effort })
  const types = admittedTypes(schema, root)
  if (depth > DEEPEST || types.has("string") || types.size === EVERY_TYPE) return whole
  const next = (member: JsonSchema) => nestedExpression(member, root, how, depth + 1)
  const options: Expression[] = [whole]
  if (types.has("array"))
    options.push(
      repeat(sequence(literal(`${prefix}<item>`), next(itemSchema(schema, root)), literal(`${prefix}</item>`)), 1),
    )
  if (types.has("object")) options.push(membersExpression(schema, root, tagMarks(prefix), next))
  return choice(...options)
}

export function tagMarks(prefix: string): MemberMarks {
  return { before: (key) => [`${prefix}<${key}>`], after: (key) => `${prefix}</${key}>` }
}

/** A part of a schema as a document of its own, with the definitions that it may refer to. */
export function documentOf(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const { $defs, definitions } = root
  return { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }), ...schema }
}

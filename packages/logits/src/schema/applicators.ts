/**
 * Keywords that combine schemas: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`, dependent schemas, property names.
 */
import { escapePointer, isObject, isSchema, type JsonSchema, type Schema } from "./json-schema.ts"
import type { Algebra } from "./algebra.ts"
import type { Reader } from "./reader.ts"
import { type Located, isOldDialect } from "./references.ts"
import {
  ANY_OBJECT,
  type KeyRule,
  NOTHING,
  type ObjectSet,
  SchemaProblem,
  type Shape,
  type ValueType,
} from "./types.ts"
import { withLength } from "./strings.ts"
import { unevaluated } from "./unevaluated.ts"

/** One keyword, and what it leaves of the values that everything else allows. */
export interface Applied {
  readonly keyword: string
  narrow(shape: Shape): Shape
}

/**
 * The keywords that choose between schemas, the simple ones first: what they are applied to is then as narrow as can
 * be, and alternatives that have nothing in common with it fall away at once. References and `allOf` are not among
 * them.
 */
export function applicators({ schema, at }: Conjunct, reader: Reader): Applied[] {
  const { algebra, references } = reader
  const type = (path: string, value: Schema): ValueType => reader.typeAt(references.below(at, path, value))
  const list = (keyword: string): ValueType[] => {
    const value = schema[keyword]
    if (!Array.isArray(value)) return []
    return value.filter(isSchema).map((one, index) => type(`/${keyword}/${index}`, one))
  }
  const result: Applied[] = []
  const add = (keyword: string, narrow: (shape: Shape) => Shape): void => {
    if (Object.hasOwn(schema, keyword)) result.push({ keyword, narrow })
  }
  const meetAll = (shape: Shape, types: readonly ValueType[]): Shape =>
    types.reduce((sum, one) => algebra.meet(sum, one.shape()), shape)
  const unsupported = (reason: string) => (): never => {
    throw new SchemaProblem(reason)
  }
  add("$dynamicRef", (shape) => algebra.meet(shape, dynamicType(String(schema["$dynamicRef"]), at, reader).shape()))
  add("$recursiveRef", unsupported("is not supported; use $ref"))
  add("extends", unsupported("is of draft 3"))
  add("disallow", unsupported("is of draft 3"))
  add("propertyNames", (shape) =>
    isSchema(schema["propertyNames"])
      ? algebra.meet(shape, named(type("/propertyNames", schema["propertyNames"]), reader).shape())
      : shape,
  )
  for (const keyword of ["dependentSchemas", "dependencies"])
    add(keyword, (shape) => meetAll(shape, dependent(schema[keyword], keyword, type, reader)))
  add("anyOf", (shape) => algebra.unite(list("anyOf").map((one) => algebra.meet(shape, one.shape()))))
  add("if", (shape) => conditional(shape, schema, type, reader))
  add("oneOf", (shape) => exactlyOne(shape, list("oneOf"), reader))
  add("not", (shape) =>
    isSchema(schema["not"]) ? without(shape, references.below(at, "/not", schema["not"]), reader) : shape,
  )
  for (const keyword of ["unevaluatedProperties", "unevaluatedItems"] as const) {
    if (!isOldDialect(at.dialect)) add(keyword, (shape) => meetAll(shape, unevaluated(schema, at, reader, keyword)))
  }
  return result
}

/** A schema of which all keywords hold: the one itself, what it refers to, the members of its `allOf`. */
export interface Conjunct {
  readonly schema: JsonSchema
  readonly at: Located
}

function dynamicType(reference: string, at: Located, reader: Reader): ValueType {
  const target = reader.references.dynamic(at, reference)
  if (target === undefined) throw new SchemaProblem("depends on the way by which the schema is reached")
  return reader.typeAt(target)
}

function union(name: string, types: readonly ValueType[], { algebra }: Reader): ValueType {
  return algebra.define(name, () => algebra.unite(types.map((type) => type.shape())))
}

/** Not of the schema; a double negation is none, and not any of several is not each of them. */
function without(shape: Shape, at: Located, reader: Reader): Shape {
  const { algebra, references } = reader
  const { schema } = at
  const only = typeof schema === "object" ? Object.keys(schema) : []
  if (typeof schema === "object" && only.length === 1) {
    if (only[0] === "not" && isSchema(schema["not"]))
      return algebra.meet(shape, reader.typeAt(references.below(at, "/not", schema["not"])).shape())
    const any = schema["anyOf"]
    if (only[0] === "anyOf" && Array.isArray(any)) {
      return any
        .filter(isSchema)
        .reduce<Shape>((rest, one, index) => without(rest, references.below(at, `/anyOf/${index}`, one), reader), shape)
    }
  }
  return algebra.subtract(shape, reader.typeAt(at).shape())
}

/** One of them and no other: where two have values in common, those are taken out of each. */
function exactlyOne(context: Shape, types: readonly ValueType[], { algebra }: Reader): Shape {
  const within = types.map((type) => algebra.define("oneOf", () => algebra.meet(context, type.shape())))
  return algebra.unite(
    within.map((type, index) => {
      const rivals = within.filter(
        (other, at) => at !== index && (types[at] === types[index] || overlap(type, other, algebra)),
      )
      return rivals.reduce((rest, rival) => algebra.subtract(rest, rival.shape()), type.shape())
    }),
  )
}

function overlap(a: ValueType, b: ValueType, algebra: Algebra): boolean {
  const shape = algebra.meet(a.shape(), b.shape())
  return algebra.inhabited(algebra.define("overlap", () => shape))
}

function conditional(
  shape: Shape,
  schema: JsonSchema,
  type: (path: string, value: Schema) => ValueType,
  { algebra }: Reader,
): Shape {
  if (!isSchema(schema["if"]) || (!isSchema(schema["then"]) && !isSchema(schema["else"]))) return shape
  const condition = type("/if", schema["if"]).shape()
  const then = isSchema(schema["then"]) ? type("/then", schema["then"]).shape() : algebra.any.shape()
  const otherwise = isSchema(schema["else"]) ? type("/else", schema["else"]).shape() : algebra.any.shape()
  return algebra.unite([
    algebra.meet(algebra.meet(shape, condition), then),
    algebra.meet(algebra.subtract(shape, condition), otherwise),
  ])
}

/** A name is absent, or present and the schema holds. */
function dependent(
  value: unknown,
  keyword: string,
  type: (path: string, value: Schema) => ValueType,
  reader: Reader,
): ValueType[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, schema]) => {
    if (!isSchema(schema)) return []
    const present = objectsWith({ names: [name], required: [name] }, reader)
    const absent = objectsWith(
      { names: [name], rules: [{ keys: { kind: "name", name }, type: reader.algebra.never }] },
      reader,
    )
    const holds = type(`/${keyword}/${escapePointer(name)}`, schema)
    const { algebra } = reader
    const otherwise = algebra.define(name, () => ({ ...algebra.any.shape(), objects: absent.objects }))
    const bound = algebra.define(name, () => ({ ...objectsOnly(algebra.any.shape()), objects: present.objects }))
    return [union(keyword, [otherwise, algebra.intersect(bound, holds)], reader)]
  })
}

const objectsOnly = ({ objects }: Shape): Shape => ({ ...NOTHING, objects })

function objectsWith(set: Partial<ObjectSet>, { algebra }: Reader): Shape {
  return { ...algebra.any.shape(), objects: [{ ...ANY_OBJECT, ...set }] }
}

/** Keys are strings: those that are not of the type are forbidden. */
function named(names: ValueType, { algebra }: Reader): ValueType {
  return algebra.define("propertyNames", () => {
    const any = algebra.any.shape()
    const forbidden = algebra.complement(names).shape().strings
    const rules = forbidden.map((set): KeyRule => ({
      keys: { kind: "pattern", language: withLength(set) },
      type: algebra.never,
    }))
    return { ...any, objects: [{ ...ANY_OBJECT, rules }] }
  })
}

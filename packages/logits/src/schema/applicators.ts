/** Keywords that combine schemas: references, `allOf`, `anyOf`, `oneOf`, `not`, `if`, dependent schemas, property names. */
import { escapePointer, isObject, isSchema, type JsonSchema, type Schema } from "./json-schema.ts"
import { type Reader, referenceType } from "./normalise.ts"
import { type Located, isOldDialect } from "./references.ts"
import { ANY_OBJECT, type KeyRule, type ObjectSet, SchemaProblem, type Shape, type ValueType } from "./types.ts"
import { withLength } from "./strings.ts"
import { unevaluated } from "./unevaluated.ts"

/** One keyword and the types that it asks of the value, worked out when called. */
export interface Applied {
  readonly keyword: string
  types(): ValueType[]
}

export function applicators(schema: JsonSchema, at: Located, reader: Reader): Applied[] {
  const { algebra, references } = reader
  const type = (path: string, value: Schema): ValueType => reader.typeAt(references.below(at, path, value))
  const list = (keyword: string): ValueType[] => {
    const value = schema[keyword]
    if (!Array.isArray(value)) return []
    return value.filter(isSchema).map((one, index) => type(`/${keyword}/${index}`, one))
  }
  const result: Applied[] = []
  const add = (keyword: string, types: () => ValueType[]): void => {
    if (Object.hasOwn(schema, keyword)) result.push({ keyword, types })
  }
  add("$ref", () => (typeof schema["$ref"] === "string" ? [referenceType(schema["$ref"], at, reader)] : []))
  add("$dynamicRef", () => [dynamicType(String(schema["$dynamicRef"]), at, reader)])
  add("$recursiveRef", () => { throw new SchemaProblem("is not supported; use $ref") })
  add("extends", () => { throw new SchemaProblem("is of draft 3") })
  add("disallow", () => { throw new SchemaProblem("is of draft 3") })
  add("allOf", () => list("allOf"))
  add("not", () => (isSchema(schema["not"]) ? [algebra.complement(type("/not", schema["not"]))] : []))
  add("if", () => conditional(schema, type, reader))
  for (const keyword of ["dependentSchemas", "dependencies"]) add(keyword, () => dependent(schema[keyword], keyword, type, reader))
  add("propertyNames", () => (isSchema(schema["propertyNames"]) ? [named(type("/propertyNames", schema["propertyNames"]), reader)] : []))
  add("anyOf", () => [union("anyOf", list("anyOf"), reader)])
  add("oneOf", () => [exactlyOne(list("oneOf"), reader)])
  for (const keyword of ["unevaluatedProperties", "unevaluatedItems"] as const) {
    if (!isOldDialect(at.dialect)) add(keyword, () => unevaluated(schema, at, reader, keyword))
  }
  return result
}

function dynamicType(reference: string, at: Located, reader: Reader): ValueType {
  const target = reader.references.dynamic(at, reference)
  if (target === undefined) throw new SchemaProblem("depends on the way by which the schema is reached")
  return reader.typeAt(target)
}

function union(name: string, types: readonly ValueType[], { algebra }: Reader): ValueType {
  return algebra.define(name, () => algebra.unite(types.map((type) => type.shape())))
}

/** One of them and no other: where two have values in common, those are taken out of each. */
function exactlyOne(types: readonly ValueType[], reader: Reader): ValueType {
  const { algebra } = reader
  return algebra.define("oneOf", () => {
    const alone = types.map((type, index) => {
      const rivals = types.filter((other, at) => at !== index && algebra.inhabited(algebra.intersect(type, other)))
      return rivals.reduce((rest, rival) => algebra.intersect(rest, rival === type ? algebra.never : algebra.complement(rival)), type)
    })
    return algebra.unite(alone.map((type) => type.shape()))
  })
}

function conditional(schema: JsonSchema, type: (path: string, value: Schema) => ValueType, reader: Reader): ValueType[] {
  if (!isSchema(schema["if"]) || (!isSchema(schema["then"]) && !isSchema(schema["else"]))) return []
  const { algebra } = reader
  const condition = type("/if", schema["if"])
  const then = isSchema(schema["then"]) ? type("/then", schema["then"]) : algebra.any
  const otherwise = isSchema(schema["else"]) ? type("/else", schema["else"]) : algebra.any
  const yes = then === algebra.any ? condition : algebra.intersect(condition, then)
  return [union("if", [yes, algebra.intersect(algebra.complement(condition), otherwise)], reader)]
}

/** A name is absent, or present and the schema holds. */
function dependent(value: unknown, keyword: string, type: (path: string, value: Schema) => ValueType, reader: Reader): ValueType[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, schema]) => {
    if (!isSchema(schema)) return []
    const present = objectsWith({ names: [name], required: [name] }, reader)
    const absent = objectsWith({ names: [name], rules: [{ keys: { kind: "name", name }, type: reader.algebra.never }] }, reader)
    const holds = type(`/${keyword}/${escapePointer(name)}`, schema)
    const { algebra } = reader
    const otherwise = algebra.define(name, () => ({ ...algebra.any.shape(), objects: absent.objects }))
    const bound = algebra.define(name, () => ({ ...objectsOnly(algebra.any.shape()), objects: present.objects }))
    return [union(keyword, [otherwise, algebra.intersect(bound, holds)], reader)]
  })
}

const objectsOnly = (any: Shape): Shape => ({ ...any, null: false, true: false, false: false, numbers: [], strings: [], arrays: [] })

function objectsWith(set: Partial<ObjectSet>, { algebra }: Reader): Shape {
  return { ...algebra.any.shape(), objects: [{ ...ANY_OBJECT, ...set }] }
}

/** Keys are strings: those that are not of the type are forbidden. */
function named(names: ValueType, { algebra }: Reader): ValueType {
  return algebra.define("propertyNames", () => {
    const any = algebra.any.shape()
    const forbidden = algebra.complement(names).shape().strings
    const rules = forbidden.map((set): KeyRule => ({ keys: { kind: "pattern", language: withLength(set) }, type: algebra.never }))
    return { ...any, objects: [{ ...ANY_OBJECT, rules }] }
  })
}

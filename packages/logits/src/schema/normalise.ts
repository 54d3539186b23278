/** From a schema to a type: every keyword is expressed, refused, or (on request) left to later validation by name. */
import { ANY_TEXT } from "../automaton/dfa-algebra.ts"
import { RegexProblem } from "../automaton/regex-syntax.ts"
import { annotationOf, type GroundedHole, holeOf } from "./grounded-hole.ts"
import { type Algebra, createAlgebra } from "./algebra.ts"
import { applicators, type Conjunct } from "./applicators.ts"
import { shapeOfValues } from "./constants.ts"
import { isKnownDialect, isObject, isSchema, type JsonSchema, type Schema } from "./json-schema.ts"
import {
  type KeywordContext,
  readArrays,
  readNumbers,
  readObjects,
  readStrings,
  PLAIN_WHOLE_NUMBERS,
  WHOLE_NUMBERS,
} from "./keywords.ts"
import { meetNumbers } from "./numbers.ts"
import type { Reader } from "./reader.ts"
import { type Effort, effortForOne } from "./effort.ts"
import { indexReferences, type Located, isOldDialect, type References } from "./references.ts"
import { NOTHING, type NumberSet, SchemaProblem, type Shape, type StringSet, type ValueType } from "./types.ts"

/** Why a schema was refused, or what of it was left out. */
export interface Reason {
  /** A JSON pointer into the schema, with `#`. */
  readonly path: string
  readonly keyword: string
  readonly reason: string
}

export interface NormaliseOptions {
  /** Leave out what cannot be expressed, and say so, instead of refusing. */
  readonly relaxed?: boolean
  /**
   * Whether `format` is checked. `dialect`, the default: yes in drafts 4 to 7 and where no `$schema` is named; where
   * one names 2019-09 or 2020-12, in which it is an annotation unless agreed otherwise, the schema is refused.
   */
  readonly formats?: "assert" | "annotate" | "dialect"
  /**
   * Objects that declare properties and say nothing of others take no others. Narrower than the schema, and what one
   * wants of a model.
   */
  readonly closed?: boolean
  /** Read a `$schema` that is not known as if it named 2020-12, instead of refusing it. */
  readonly anyDialect?: boolean
  /**
   * `exact`, the default: items are compared whatever they are. `finite`: only where they are out of few values;
   * otherwise refused.
   * Token masks need that, since they would have to compare with what every token could make of an item.
   */
  readonly uniqueItems?: "exact" | "finite"
  /** What is shared with other schemas of the same grammar. Each schema has a bound of its own in any case. */
  readonly effort?: Effort
}

export interface Normalised {
  readonly type: ValueType
  readonly reasons: readonly Reason[]
}

/** The reason for which a schema is refused, thrown out of the depth of it. */
export class Refusal extends SchemaProblem {
  readonly reason: Reason
  constructor(reason: Reason) {
    super(`${reason.path}: ${reason.keyword}: ${reason.reason}`)
    this.reason = reason
  }
}

/**
 * The type of a schema, not yet worked out: problems deeper down come as exceptions of its `shape()`.
 *
 * @throws Refusal
 */
export function typeOfSchema(document: Schema, options: NormaliseOptions = {}, withoutUnique = false): Normalised {
  return new SchemaReader(document, options, withoutUnique).read()
}

/** The types of one document's sub-schemas, each worked out once, and why some keywords were left out. */
class SchemaReader implements Reader {
  readonly algebra: Algebra
  readonly references: References
  readonly #options: NormaliseOptions
  readonly #withoutUnique: boolean
  readonly #reasons: Reason[] = []
  readonly #types = new Map<Schema, Map<string, ValueType>>()
  readonly #closed = new Map<ValueType, ValueType>()

  constructor(document: Schema, options: NormaliseOptions, withoutUnique: boolean) {
    this.#options = options
    this.#withoutUnique = withoutUnique
    const whole = { path: "#", keyword: "schema" }
    this.algebra = refusing(whole, () => createAlgebra(options.effort ?? effortForOne()))
    this.#checkDialect(document)
    this.references = refusing(whole, () => indexReferences(document, this.algebra.spend))
  }

  read(): Normalised {
    return { type: this.valueAt(this.references.root), reasons: this.#reasons }
  }

  #checkDialect(document: Schema): void {
    const dialect = typeof document === "object" ? document["$schema"] : undefined
    if (typeof dialect !== "string" || isKnownDialect(dialect) || this.#options.anyDialect === true) return
    const reason: Reason = {
      path: "#",
      keyword: "$schema",
      reason: `${JSON.stringify(dialect)} is not a dialect known here, and may change what keywords mean`,
    }
    if (this.#options.relaxed !== true) throw new Refusal(reason)
    this.#reasons.push(reason)
  }

  typeAt(at: Located): ValueType {
    const { algebra } = this
    if (typeof at.schema === "boolean") return at.schema ? algebra.any : algebra.never
    if (Object.keys(at.schema).length === 0) return algebra.any
    let perBase = this.#types.get(at.schema)
    if (perBase === undefined) this.#types.set(at.schema, (perBase = new Map()))
    let type = perBase.get(at.base)
    if (type === undefined) {
      const { schema } = at
      type = algebra.define(nameOf(at.path), () => shapeOfSchema(schema, at, this, (at) => this.#contextOf(at)))
      perBase.set(at.base, type)
    }
    return type
  }

  valueAt(at: Located): ValueType {
    const { algebra } = this
    const open = this.typeAt(at)
    if (this.#options.closed !== true || open === algebra.any || open === algebra.never) return open
    let type = this.#closed.get(open)
    if (type === undefined)
      this.#closed.set(open, (type = algebra.define(open.name, () => closeObjects(open.shape(), algebra))))
    return type
  }

  attempt<Value>(at: Located, keyword: string, run: () => Value, otherwise: Value): Value {
    try {
      return refusing({ path: at.path, keyword }, run)
    } catch (problem) {
      if (!(problem instanceof Refusal) || this.#options.relaxed !== true) throw problem
      this.#reasons.push(problem.reason)
      return otherwise
    }
  }

  #contextOf(at: Located): KeywordContext {
    const { algebra } = this
    const formats = this.#options.formats ?? "dialect"
    const annotates = at.dialect === "2020-12" || at.dialect === "2019-09"
    return {
      any: algebra.any,
      never: algebra.never,
      spend: algebra.spend,
      draft4: at.dialect === "draft-04",
      itemLists: at.dialect !== "2020-12",
      unique: !this.#withoutUnique,
      path: at.path,
      formats: formats === "dialect" ? (annotates ? "undecided" : "assert") : formats,
      type: (path, schema) => this.valueAt(this.references.below(at, path, schema)),
      keyword: (name, run, otherwise) => this.attempt(at, name, run, otherwise),
    }
  }
}

/** Forbids further keys where names are declared and nothing is said of others. */
function closeObjects(shape: Shape, algebra: Algebra): Shape {
  return {
    ...shape,
    objects: shape.objects.map((set) => {
      if (set.names.length === 0 || set.some.length > 0 || set.rules.some(({ keys }) => keys.kind !== "name"))
        return set
      return {
        ...set,
        rules: [...set.rules, { keys: { kind: "rest", names: set.names, patterns: [] }, type: algebra.never }],
      }
    }),
  }
}

/** Turns problems into refusals that say where. */
export function refusing<Result>(where: { path: string; keyword: string }, run: () => Result): Result {
  try {
    return run()
  } catch (problem) {
    if (problem instanceof Refusal) throw problem
    const reason = limitOf(problem)
    if (reason === undefined) throw problem
    throw new Refusal({ ...where, reason })
  }
}

/** Why something could not be worked out, where it was a limit or a keyword's meaning; undefined for other mistakes. */
export function limitOf(problem: unknown): string | undefined {
  if (problem instanceof SchemaProblem || problem instanceof RegexProblem) return problem.message
  return problem instanceof RangeError ? "the schema is nested too deep" : undefined
}

function nameOf(path: string): string {
  const segments = path.split("/").slice(1)
  const kept = segments.filter(
    (segment, index) => !(index % 2 === 0 && /^(properties|\$defs|definitions)$/.test(segment)),
  )
  return (
    kept
      .map((segment) => segment.replaceAll(/[^A-Za-z0-9]+/g, "-"))
      .join("-")
      .replaceAll(/^-+|-+$/g, "") || "root"
  )
}

const TYPES = new Set(["null", "boolean", "number", "integer", "string", "array", "object"])

/** What all conjuncts say by themselves, narrowed by what they choose between. */
function shapeOfSchema(
  schema: JsonSchema,
  at: Located,
  reader: Reader,
  contextOf: (at: Located) => KeywordContext,
): Shape {
  const { algebra } = reader
  const conjuncts: Conjunct[] = []
  const possible = collectConjuncts({ schema, at }, reader, conjuncts, new Set())
  if (!possible) return NOTHING
  const met = meetAll(
    algebra,
    conjuncts.flatMap((one) => [ownShape(one.schema, contextOf(one.at)), ...valueShapes(one.schema, one.at, reader)]),
  )
  const own = [schema, ...conjuncts.map((one) => one.schema)].reduce((shape, one) => ground(shape, one, at.path), met)
  const applied = conjuncts.flatMap((one) =>
    applicators(one, reader).map((applicator) => ({ ...applicator, at: one.at })),
  )
  const ordered = applied.toSorted((a, b) => weight(a.keyword) - weight(b.keyword))
  return ordered.reduce(
    (shape, { keyword, narrow, at }) => reader.attempt(at, keyword, () => narrow(shape), shape),
    own,
  )
}

/**
 * Marks what has to come from a conversation. It is no assertion: what the schema excludes elsewhere is the value as it
 * is.
 */
function ground(shape: Shape, schema: JsonSchema, path: string): Shape {
  const annotation = annotationOf(schema)
  if (annotation === undefined) return shape
  const hole: GroundedHole = holeOf(annotation, path)
  return {
    ...shape,
    strings: shape.strings.map((set) => (set.listed === true ? set : { grounded: hole, ...set })),
    numbers: hole.kind === "number" ? shape.numbers.map((set) => ({ grounded: hole, ...set })) : shape.numbers,
  }
}

/** Choices that fan out most come last. */
const weight = (keyword: string): number => ["anyOf", "if", "oneOf", "not"].indexOf(keyword)

/** @returns whether none of them is the schema `false` */
function collectConjuncts(one: Conjunct, reader: Reader, into: Conjunct[], open: Set<JsonSchema>): boolean {
  const { schema, at } = one
  if (open.has(schema)) {
    // The same again in a conjunction says nothing new, unless it is on the way to itself.
    if (into.some((other) => other.schema === schema)) return true
    throw new SchemaProblem("the schema refers to itself before it describes any value")
  }
  open.add(schema)
  const reference = schema["$ref"]
  const refersOnly = isOldDialect(at.dialect) && typeof reference === "string"
  const visit = (next: Located): boolean => {
    if (typeof next.schema === "boolean") return next.schema
    return collectConjuncts({ schema: next.schema, at: next }, reader, into, open)
  }
  if (!refersOnly) into.push(one)
  if (typeof reference === "string") {
    const target = reader.attempt(at, "$ref", () => reader.references.resolve(at, reference), undefined)
    if (target !== undefined && !visit(target)) return false
  }
  const all = schema["allOf"]
  if (refersOnly || !Array.isArray(all)) return true
  return all.filter(isSchema).every((member, index) => visit(reader.references.below(at, `/allOf/${index}`, member)))
}

const meetAll = (algebra: Algebra, shapes: readonly Shape[]): Shape =>
  shapes.length === 0 ? algebra.any.shape() : shapes.reduce((a, b) => algebra.meet(a, b))

function valueShapes(schema: JsonSchema, at: Located, { algebra, attempt }: Reader): Shape[] {
  const result: Shape[] = []
  const name = nameOf(at.path)
  if (Object.hasOwn(schema, "const")) result.push(shapeOfValues([schema["const"]], algebra, name))
  const values = schema["enum"]
  if (Array.isArray(values)) {
    if (values.length > 20_000)
      attempt(
        at,
        "enum",
        () => {
          throw new SchemaProblem("has more than 20000 values")
        },
        undefined,
      )
    else result.push(shapeOfValues(values, algebra, name))
  }
  return result
}

function ownShape(schema: JsonSchema, context: KeywordContext): Shape {
  const types = readTypes(schema, context)
  const has = (type: string): boolean => types === undefined || types.has(type)
  const says = (keywords: readonly string[]): boolean => keywords.some((keyword) => Object.hasOwn(schema, keyword))
  const numbers = ownNumbers(schema, types, context)
  const any = context.any.shape()
  if (types === undefined && !says(RESTRICTING)) return any
  return {
    ...NOTHING,
    null: has("null"),
    true: has("boolean"),
    false: has("boolean"),
    numbers,
    strings: has("string") ? ownStrings(schema, context) : [],
    arrays: !has("array") ? [] : says(ARRAY_KEYWORDS) ? [readArrays(schema, context)] : any.arrays,
    objects: !has("object") ? [] : says(OBJECT_KEYWORDS) ? [readObjects(schema, context)] : any.objects,
  }
}

/** The numbers that a schema allows; of all numbers the one set that stands for them. */
function ownNumbers(
  schema: JsonSchema,
  types: ReadonlySet<string> | undefined,
  context: KeywordContext,
): readonly NumberSet[] {
  if (types !== undefined && !types.has("number") && !types.has("integer")) return []
  const read = readNumbers(schema, context)
  if (read === undefined) return []
  const wholes = context.draft4 ? PLAIN_WHOLE_NUMBERS : WHOLE_NUMBERS
  const set = types === undefined || types.has("number") ? read : isAnyNumber(read) ? wholes : meetNumbers(read, wholes)
  if (set === undefined) return []
  return [isAnyNumber(set) ? context.any.shape().numbers[0]! : set]
}

/** The strings that a schema allows; of all strings the one set that stands for them. */
function ownStrings(schema: JsonSchema, context: KeywordContext): readonly StringSet[] {
  const set = readStrings(schema, context)
  if (set === undefined) return []
  const isAny = set.language === ANY_TEXT && set.min === 0 && set.max === Infinity
  return isAny ? context.any.shape().strings : [set]
}

const isAnyNumber = ({ low, high, step, notSteps }: NonNullable<ReturnType<typeof readNumbers>>): boolean =>
  low === undefined && high === undefined && step === undefined && notSteps.length === 0

const ARRAY_KEYWORDS = ["items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"]
const OBJECT_KEYWORDS = [
  "properties",
  "patternProperties",
  "additionalProperties",
  "required",
  "minProperties",
  "maxProperties",
  "dependentRequired",
  "dependencies",
]
const SCALAR_KEYWORDS = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "divisibleBy",
  "minLength",
  "maxLength",
  "pattern",
  "format",
]
const RESTRICTING = [...ARRAY_KEYWORDS, ...OBJECT_KEYWORDS, ...SCALAR_KEYWORDS]

/** The names under `type`; undefined where any is allowed. */
function readTypes(schema: JsonSchema, context: KeywordContext): Set<string> | undefined {
  const type = schema["type"]
  if (type === undefined) return undefined
  return context.keyword(
    "type",
    () => {
      const names = Array.isArray(type) ? type : [type]
      if (names.some((name) => isObject(name) || isSchema(name)))
        throw new SchemaProblem("schemas as types are of draft 3")
      if (names.includes("any")) return undefined
      const unknown = names.find((name) => !TYPES.has(name as string))
      if (unknown !== undefined) throw new SchemaProblem(`${JSON.stringify(unknown)} is no type of JSON Schema`)
      return new Set(names as string[])
    },
    undefined,
  )
}

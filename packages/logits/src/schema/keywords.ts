/**
 * What the keywords for one kind of value say: numbers, strings, arrays, objects. Each reader gives one set of its
 * kind.
 */
import { memory } from "@toolwright/toolbox"
import type { Dfa } from "../automaton/dfa.ts"
import { unitsOfLanguage } from "./effort.ts"
import { compilePattern } from "../automaton/regex.ts"
import { ANY_TEXT, intersectDfa } from "../automaton/dfa-algebra.ts"
import { RegexProblem } from "../automaton/regex-syntax.ts"
import { type Decimal, decimalOf, ONE } from "./decimal.ts"
import { formatStrings, isKnownFormat } from "./formats.ts"
import { isObject, type JsonSchema, type Schema, escapePointer, isSchema } from "./json-schema.ts"
import { meetNumbers } from "./numbers.ts"
import { ANY_STRING } from "./strings.ts"
import {
  ANY_NUMBER,
  ANY_OBJECT,
  type ArraySet,
  type Bound,
  type KeyRule,
  type NumberSet,
  type ObjectSet,
  SchemaProblem,
  type StringSet,
  type ValueType,
} from "./types.ts"

/** How a reader gets at the rest of the schema. */
export interface KeywordContext {
  /** The type of a sub-schema at a path below this one. */
  type(path: string, schema: Schema): ValueType
  /** Runs one keyword; where it cannot be expressed, that is recorded and `otherwise` holds. */
  keyword<Result>(name: string, run: () => Result, otherwise: Result): Result
  readonly never: ValueType
  readonly any: ValueType
  /** Counts work; see `Effort`. */
  spend(units: number): void
  /** Draft 4: `exclusiveMinimum: true` beside `minimum`, and 1.0 is no integer. */
  readonly draft4: boolean
  /** Drafts before 2020-12: a list under `items`. */
  readonly itemLists: boolean
  readonly formats: "assert" | "annotate" | "undecided"
  /** Whether `uniqueItems` is read at all. */
  readonly unique: boolean
  readonly path: string
}

const patterns = memory.latest<Dfa>(500)

/** @throws SchemaProblem where the pattern cannot be compiled */
export function patternLanguage(source: string, spend: (units: number) => void): Dfa {
  try {
    return patterns.get(source, () => {
      spend(source.length)
      const language = compilePattern(source)
      spend(unitsOfLanguage(language))
      return language
    })
  } catch (problem) {
    if (problem instanceof RegexProblem)
      throw new SchemaProblem(`pattern ${JSON.stringify(source)}: ${problem.message}`)
    throw problem
  }
}

/** A keyword's number, or a problem. */
function numberOf(schema: JsonSchema, keyword: string): Decimal | undefined {
  const value = schema[keyword]
  if (value === undefined || typeof value === "boolean") return undefined
  const number = typeof value === "number" ? decimalOf(value) : undefined
  if (number === undefined) throw new SchemaProblem("is not a number that can be written out")
  return number
}

function countOf(schema: JsonSchema, keyword: string): number | undefined {
  const value = schema[keyword]
  if (value === undefined) return undefined
  if (typeof value !== "number" || value < 0 || !Number.isInteger(value))
    throw new SchemaProblem("is not a whole number")
  return value
}

export function readNumbers(schema: JsonSchema, context: KeywordContext): NumberSet | undefined {
  let set: NumberSet | undefined = ANY_NUMBER
  const add = (keyword: string, make: (value: Decimal) => NumberSet): void => {
    const value = context.keyword(keyword, () => numberOf(schema, keyword), undefined)
    if (value !== undefined && set !== undefined) set = meetNumbers(set, make(value))
  }
  const bound = (value: Decimal, open: boolean): Bound => ({ value, open })
  add("minimum", (value) => ({ low: bound(value, schema["exclusiveMinimum"] === true), notSteps: [] }))
  add("maximum", (value) => ({ high: bound(value, schema["exclusiveMaximum"] === true), notSteps: [] }))
  add("exclusiveMinimum", (value) => ({ low: bound(value, true), notSteps: [] }))
  add("exclusiveMaximum", (value) => ({ high: bound(value, true), notSteps: [] }))
  for (const keyword of ["multipleOf", "divisibleBy"]) {
    add(keyword, (value) => {
      if (value.digits > 0n) return { step: value, notSteps: [] }
      return context.keyword(
        keyword,
        () => {
          throw new SchemaProblem("is not positive")
        },
        ANY_NUMBER,
      )
    })
  }
  return set
}

export const WHOLE_NUMBERS: NumberSet = { step: ONE, notSteps: [] }
/** Draft 4, where 1.0 is no integer. */
export const PLAIN_WHOLE_NUMBERS: NumberSet = { step: ONE, notSteps: [], plain: true }

export function readStrings(schema: JsonSchema, context: KeywordContext): StringSet {
  const min = context.keyword("minLength", () => countOf(schema, "minLength"), undefined) ?? 0
  const max = context.keyword("maxLength", () => countOf(schema, "maxLength"), undefined) ?? Infinity
  const pattern = schema["pattern"]
  const language =
    typeof pattern === "string"
      ? context.keyword("pattern", () => patternLanguage(pattern, context.spend), ANY_TEXT)
      : ANY_TEXT
  const own = { language, min, max }
  const format = schema["format"]
  if (typeof format !== "string") return own
  return context.keyword("format", () => bothStrings(own, readFormat(format, context)), own)
}

function bothStrings(a: StringSet, b: StringSet): StringSet {
  return { language: intersectDfa(a.language, b.language), min: Math.max(a.min, b.min), max: Math.min(a.max, b.max) }
}

function readFormat(format: string, { formats }: KeywordContext): StringSet {
  if (formats === "annotate" || !isKnownFormat(format)) return ANY_STRING
  if (formats === "undecided") {
    throw new SchemaProblem(
      `"${format}" is a mere annotation in the dialect that $schema names; set the option formats to "assert" ` +
        `or "annotate"`,
    )
  }
  const strings = formatStrings(format)
  if (strings === undefined) throw new SchemaProblem(`the format "${format}" has no exact grammar here`)
  return strings
}

export function readArrays(schema: JsonSchema, context: KeywordContext): ArraySet {
  const one = (keyword: string): ValueType | undefined => {
    const value = schema[keyword]
    return isSchema(value) ? context.type(`/${keyword}`, value) : undefined
  }
  const list = (keyword: string): ValueType[] => {
    const value = schema[keyword]
    return Array.isArray(value)
      ? value.filter(isSchema).map((item, index) => context.type(`/${keyword}/${index}`, item))
      : []
  }
  const tuple = Array.isArray(schema["items"])
  const prefix = tuple ? list("items") : list("prefixItems")
  const rest = (tuple ? one("additionalItems") : one("items")) ?? context.any
  const min = context.keyword("minItems", () => countOf(schema, "minItems"), undefined) ?? 0
  const max = context.keyword("maxItems", () => countOf(schema, "maxItems"), undefined) ?? Infinity
  const contained = one("contains")
  const least = context.keyword("minContains", () => countOf(schema, "minContains"), undefined) ?? 1
  const most = context.keyword("maxContains", () => countOf(schema, "maxContains"), undefined) ?? Infinity
  const contains =
    contained === undefined || (least === 0 && most === Infinity)
      ? []
      : [{ type: contained, min: least, max: most, from: 0 }]
  return {
    prefix,
    rest,
    min,
    max,
    unique: schema["uniqueItems"] === true && context.unique,
    uniqueAt: context.path,
    contains,
  }
}

export function readObjects(schema: JsonSchema, context: KeywordContext): ObjectSet {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {}
  const names = Object.keys(properties).filter((name) => isSchema(properties[name]))
  const rules: KeyRule[] = names.map((name) => ({
    keys: { kind: "name", name },
    type: context.type(`/properties/${escapePointer(name)}`, properties[name] as Schema),
  }))
  const byPattern = readPatternRules(schema, context)
  rules.push(...byPattern)
  const additional = schema["additionalProperties"]
  if (isSchema(additional)) {
    const languages = byPattern.flatMap(({ keys }) => (keys.kind === "pattern" ? [keys.language] : []))
    const type = context.type("/additionalProperties", additional)
    if (type !== context.any) rules.push({ keys: { kind: "rest", names, patterns: languages }, type })
  }
  const required = Array.isArray(schema["required"])
    ? schema["required"].filter((name) => typeof name === "string")
    : []
  return {
    ...ANY_OBJECT,
    names,
    rules,
    required: [...new Set(required)],
    min: context.keyword("minProperties", () => countOf(schema, "minProperties"), undefined) ?? 0,
    max: context.keyword("maxProperties", () => countOf(schema, "maxProperties"), undefined) ?? Infinity,
    implies: readImplications(schema),
  }
}

function readPatternRules(schema: JsonSchema, context: KeywordContext): KeyRule[] {
  const byPattern = schema["patternProperties"]
  if (!isObject(byPattern)) return []
  return Object.entries(byPattern).flatMap(([source, value]): KeyRule[] => {
    if (!isSchema(value)) return []
    const language = context.keyword("patternProperties", () => patternLanguage(source, context.spend), undefined)
    if (language === undefined) return []
    return [
      { keys: { kind: "pattern", language }, type: context.type(`/patternProperties/${escapePointer(source)}`, value) },
    ]
  })
}

function readImplications(schema: JsonSchema): (readonly [string, readonly string[]])[] {
  return ["dependentRequired", "dependencies"].flatMap((keyword) => {
    const value = schema[keyword]
    if (!isObject(value)) return []
    return Object.entries(value).flatMap(([name, others]): [string, string[]][] => {
      if (typeof others === "string") return [[name, [others]]]
      return Array.isArray(others) && others.length > 0
        ? [[name, others.filter((other) => typeof other === "string")]]
        : []
    })
  })
}

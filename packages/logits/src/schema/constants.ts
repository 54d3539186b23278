/** Types of single values: `const` and `enum`. */
import { ANY_TEXT, dfaOfTexts } from "../automaton/dfa-algebra.ts"
import { type Decimal, decimalOf } from "./decimal.ts"
import { isObject } from "./json-schema.ts"
import {
  ANY_OBJECT,
  type ArraySet,
  NOTHING,
  type NumberSet,
  type ObjectSet,
  type Shape,
  type TypeAlgebra,
  type ValueType,
} from "./types.ts"

/** The union of exactly these JSON values. */
export function shapeOfValues(values: readonly unknown[], algebra: TypeAlgebra, name: string): Shape {
  const texts = values.filter((value) => typeof value === "string")
  return {
    ...NOTHING,
    null: values.includes(null),
    true: values.includes(true),
    false: values.includes(false),
    numbers: values.flatMap((value) => {
      const number = typeof value === "number" ? decimalOf(value) : undefined
      return number === undefined ? [] : [exactly(number)]
    }),
    strings:
      texts.length === 0
        ? []
        : [{ language: dfaOfTexts(texts), min: 0, max: Infinity, listed: true }].filter(
            ({ language }) => language !== ANY_TEXT && language.start >= 0,
          ),
    arrays: values.flatMap((value) => (Array.isArray(value) ? [arrayOf(value, algebra, name)] : [])),
    objects: values.flatMap((value) => (isObject(value) ? [objectOf(value, algebra, name)] : [])),
  }
}

const exactly = (value: Decimal): NumberSet => ({
  low: { value, open: false },
  high: { value, open: false },
  notSteps: [],
})

function typeOfValue(value: unknown, algebra: TypeAlgebra, name: string): ValueType {
  return algebra.define(name, () => shapeOfValues([value], algebra, name))
}

function arrayOf(items: readonly unknown[], algebra: TypeAlgebra, name: string): ArraySet {
  return {
    prefix: items.map((item) => typeOfValue(item, algebra, name)),
    rest: algebra.never,
    min: items.length,
    max: items.length,
    unique: false,
    contains: [],
  }
}

function objectOf(value: Record<string, unknown>, algebra: TypeAlgebra, name: string): ObjectSet {
  const names = Object.keys(value)
  return {
    ...ANY_OBJECT,
    names,
    required: names,
    rules: [
      ...names.map((key) => ({
        keys: { kind: "name", name: key } as const,
        type: typeOfValue(value[key], algebra, name),
      })),
      { keys: { kind: "rest", names, patterns: [] }, type: algebra.never },
    ],
  }
}

/** The type of one JSON value. */
export const shapeOfValue = (value: unknown, algebra: TypeAlgebra): Shape => shapeOfValues([value], algebra, "item")

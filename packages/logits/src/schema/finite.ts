/** The values of types that have only a few. */
import { type Decimal, nearestFactor, ONE, printDecimal, times } from "./decimal.ts"
import { containsNumber } from "./numbers.ts"
import { matchesDfa, type Dfa } from "../automaton/dfa.ts"
import { dfaOfTexts } from "../automaton/dfa-algebra.ts"
import {
  NOTHING,
  type NumberSet,
  SchemaProblem,
  type Shape,
  type StringSet,
  type TypeAlgebra,
  type ValueType,
} from "./types.ts"

export interface FiniteValue {
  readonly type: ValueType
  /** Whether another type has the value. */
  belongs(type: ValueType): boolean
}

const MOST = 200

/** Every value of any of the types, each once. @throws SchemaProblem where they are not few, or not simple */
export function finiteValues(types: readonly ValueType[], algebra: TypeAlgebra): FiniteValue[] {
  const values = new Map<string, { shape: Shape; belongs(shape: Shape): boolean }>()
  for (const type of types) {
    const shape = algebra.livingShape(type)
    if (shape.arrays.length + shape.objects.length > 0)
      throw new SchemaProblem("uniqueItems is exact for items out of finitely many simple values only")
    for (const word of ["null", "true", "false"] as const) {
      if (shape[word]) values.set(word, { shape: { ...NOTHING, [word]: true }, belongs: (other) => other[word] })
    }
    for (const number of shape.numbers.flatMap(numbersOf)) {
      const bound = { value: number, open: false }
      const set = { low: bound, high: bound, notSteps: [] }
      values.set(printDecimal(number), {
        shape: { ...NOTHING, numbers: [set] },
        belongs: (other) => other.numbers.some((one) => containsNumber(one, number)),
      })
    }
    for (const text of shape.strings.flatMap(textsOf)) {
      const set = { language: dfaOfTexts([text]), min: 0, max: Infinity }
      values.set(JSON.stringify(text), {
        shape: { ...NOTHING, strings: [set] },
        belongs: (other) => other.strings.some((one) => stringSetHas(one, text)),
      })
    }
    if (values.size > MOST) throw tooMany()
  }
  return [...values.values()].map(({ shape, belongs }) => {
    const type: ValueType = { name: "value", algebra: single(algebra, shape), order: -1, parts: [], shape: () => shape }
    return { type, belongs: (other) => belongs(algebra.livingShape(other)) }
  })
}

/** A single value has a value, and is its own living shape. */
function single(algebra: TypeAlgebra, shape: Shape): TypeAlgebra {
  return {
    spend: algebra.spend,
    define: (name, compute) => algebra.define(name, compute),
    intersect: (a, b) => algebra.intersect(a, b),
    complement: (type) => algebra.complement(type),
    any: algebra.any,
    never: algebra.never,
    inhabited: () => true,
    livingShape: () => shape,
  }
}

const tooMany = (): SchemaProblem =>
  new SchemaProblem(`uniqueItems is exact for items out of at most ${MOST} values only`)

function stringSetHas(set: StringSet, text: string): boolean {
  const length = Array.from(text).length
  return length >= set.min && length <= set.max && matchesDfa(set.language, text)
}

function numbersOf(set: NumberSet): Decimal[] {
  const { low, high } = set
  if (low === undefined || high === undefined) throw tooMany()
  const step = set.step ?? (printDecimal(low.value) === printDecimal(high.value) ? undefined : ONE)
  if (step === undefined) return [low.value]
  if (set.step === undefined) throw tooMany()
  const first = nearestFactor(low.value, step, true)
  const last = nearestFactor(high.value, step, false)
  if (last - first > BigInt(MOST)) throw tooMany()
  return Array.from({ length: Number(last - first) + 1 }, (_, index) => times(first + BigInt(index), step)).filter(
    (value) => containsNumber(set, value),
  )
}

function textsOf(set: StringSet): string[] {
  const result: string[] = []
  const visit = (language: Dfa, state: number, text: string, length: number): void => {
    if (length > set.max || length > 2_000) {
      if (length > 2_000) throw tooMany()
      return
    }
    if (language.accept[state] === 1 && length >= set.min) result.push(text)
    if (result.length > MOST) throw tooMany()
    language.cuts.forEach((cut, index) => {
      const target = language.table[state * language.classes + language.classOf[index]!]!
      if (target < 0) return
      const width = (language.cuts[index + 1] ?? 0x110000) - cut
      if (width > MOST) throw tooMany()
      for (let code = cut; code < cut + width; code++)
        visit(language, target, text + String.fromCodePoint(code), length + 1)
    })
  }
  if (set.language.start >= 0) visit(set.language, set.language.start, "", 0)
  return result
}

/**
 * Types of values, as unions of simple shapes. Whatever a schema says with `allOf`, `not`, `oneOf` and the like ends up
 * here, so that everything after it has unions alone to deal with.
 *
 * Types refer to each other lazily: `shape()` works its union out when asked. That is what lets schemas be recursive.
 */
import type { Dfa } from "../automaton/dfa.ts"
import type { GroundedHole } from "./grounded-hole.ts"
import type { Decimal } from "./decimal.ts"

/** A type of values, opaque. Made by `typeOfSchema`; lives and dies with the schema it came from. */
export interface ValueType {
  /** Says in the grammar's rule names where the type came from. */
  readonly name: string
  /** The union, worked out on first use. @throws SchemaProblem where the schema cannot be expressed */
  shape(): Shape
  /** The atoms whose intersection the type is; itself where it came straight from a schema. */
  readonly parts: readonly ValueType[]
  readonly algebra: TypeAlgebra
  readonly order: number
}

/** What types of one schema share. */
export interface TypeAlgebra {
  /** Counts work that is about to be done, or was. @throws SchemaProblem where it is too much in all */
  spend(units: number): void
  /** Values that are of every one of the types. */
  intersect(a: ValueType, b: ValueType): ValueType
  /** Values that are not of the type. */
  complement(type: ValueType): ValueType
  /** Whether there is any value of that type. */
  inhabited(type: ValueType): boolean
  /** The union with only those shapes that have values; of object and array shapes too. */
  livingShape(type: ValueType): Shape
  /** A type by its own rule. */
  define(name: string, compute: () => Shape): ValueType
  readonly any: ValueType
  readonly never: ValueType
}

/** A union: a value belongs to it where one of its members has it. */
export interface Shape {
  readonly null: boolean
  readonly true: boolean
  readonly false: boolean
  readonly numbers: readonly NumberSet[]
  readonly strings: readonly StringSet[]
  readonly arrays: readonly ArraySet[]
  readonly objects: readonly ObjectSet[]
}

export interface Bound {
  readonly value: Decimal
  /** Whether the bound itself is left out. */
  readonly open: boolean
}

/** Numbers between two bounds that are multiples of `step` and of none of `notSteps`. */
export interface NumberSet {
  readonly low?: Bound
  readonly high?: Bound
  readonly step?: Decimal
  readonly notSteps: readonly Decimal[]
  /** Written without a fraction: 1.0 is left out. */
  readonly plain?: boolean
  /** Of these, those that a conversation has, where a grammar is bound to one. */
  readonly grounded?: GroundedHole
}

/** Strings of a language, counted in code points. */
export interface StringSet {
  readonly language: Dfa
  readonly min: number
  /** Infinity where there is no upper bound. */
  readonly max: number
  /** Of these, those that a conversation has, where a grammar is bound to one. */
  readonly grounded?: GroundedHole
  /** A list of constants: what a conversation has does not count. */
  readonly listed?: boolean
}

export interface ArraySet {
  readonly prefix: readonly ValueType[]
  readonly rest: ValueType
  readonly min: number
  readonly max: number
  readonly unique: boolean
  /** Where the schema asks for that. */
  readonly uniqueAt?: string
  /** For each, between `min` and `max` items at index `from` and later are of that type. */
  readonly contains: readonly Contains[]
}

export interface Contains {
  readonly type: ValueType
  readonly min: number
  readonly max: number
  readonly from: number
}

/** A set of keys. */
export type KeySet =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "pattern"; readonly language: Dfa }
  /** Every key that is none of the names and matches none of the patterns. */
  | { readonly kind: "rest"; readonly names: readonly string[]; readonly patterns: readonly Dfa[] }

/** Every key of the set has a value of the type; a type without values forbids the keys. */
export interface KeyRule {
  readonly keys: KeySet
  readonly type: ValueType
}

/** Objects whose every key satisfies every rule that speaks of it. */
export interface ObjectSet {
  /** Declared names, in the order in which the schema declares them. */
  readonly names: readonly string[]
  readonly rules: readonly KeyRule[]
  readonly required: readonly string[]
  readonly min: number
  readonly max: number
  /** Where the first is present, the others are. */
  readonly implies: readonly (readonly [string, readonly string[]])[]
  /** For each there is at least one key of the set with a value of the type. */
  readonly some: readonly KeyRule[]
}

/** Something a schema says that no grammar of ours can. */
export class SchemaProblem extends Error {}

export const ANY_NUMBER: NumberSet = { notSteps: [] }
export const ANY_OBJECT: ObjectSet = {
  names: [],
  rules: [],
  required: [],
  min: 0,
  max: Infinity,
  implies: [],
  some: [],
}

export const NOTHING: Shape = {
  null: false,
  true: false,
  false: false,
  numbers: [],
  strings: [],
  arrays: [],
  objects: [],
}

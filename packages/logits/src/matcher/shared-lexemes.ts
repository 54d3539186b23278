/** Lexemes by what they hold, so that equal ones are the same in every grammar and their masks are worked out once. */
import { memory } from "@toolwright/toolbox"
import { afterWhiteSpace, type Lexeme } from "../lexeme/lexeme.ts"
import type { Dfa } from "../automaton/dfa.ts"
import { numberLexeme } from "../lexeme/number-lexeme.ts"
import { stringLexeme } from "../lexeme/string-lexemes.ts"
import { graphLanguage, type TextGraph } from "../lexeme/text-graph.ts"
import { stringLanguage } from "../lexeme/text-language.ts"
import type { StringStyle } from "../grammar/notation.ts"
import { type Decimal, printDecimal } from "../schema/decimal.ts"
import type { Bound, NumberSet, StringSet } from "../schema/types.ts"

const stringsOf = memory.derived((_language: Dfa) => new Map<string, Lexeme>())
const keyOfStyle = memory.derived((style: StringStyle) => JSON.stringify(style))
const numbers = memory.latest<Lexeme>(500)

/** @param spaced whether white space may come before */
export function sharedStringLexeme(set: StringSet, style: StringStyle, spaced: boolean): Lexeme {
  const known = stringsOf(set.language)
  const key = `${set.min},${set.max}${keyOfStyle(style)}`
  let plain = known.get(key)
  if (plain === undefined) known.set(key, (plain = stringLexeme(style, stringLanguage(set))))
  if (!spaced) return plain
  let lexeme = known.get(` ${key}`)
  if (lexeme === undefined) known.set(` ${key}`, (lexeme = afterWhiteSpace(plain)))
  return lexeme
}

const lexemesOfGraph = memory.derived((_graph: TextGraph) => new Map<string, Lexeme>())

/** The texts of a graph as strings. */
export function sharedGraphLexeme(graph: TextGraph, style: StringStyle, spaced: boolean): Lexeme {
  const known = lexemesOfGraph(graph)
  const key = `${spaced}${keyOfStyle(style)}`
  let lexeme = known.get(key)
  if (lexeme === undefined) {
    const plain = spaced ? sharedGraphLexeme(graph, style, false) : stringLexeme(style, graphLanguage(graph))
    known.set(key, (lexeme = spaced ? afterWhiteSpace(plain) : plain))
  }
  return lexeme
}

export function sharedNumberLexeme(sets: readonly NumberSet[], plain: boolean, spaced: boolean): Lexeme {
  const make = (): Lexeme => numberLexeme(sets, plain)
  // A long list is no key: two that are equal are rare.
  const lexeme = sets.length > 50 ? make() : numbers.get(`${plain}${sets.map((set) => described(set)).join("|")}`, make)
  return spaced ? spacedNumber(lexeme) : lexeme
}

const spacedNumber = memory.derived((lexeme: Lexeme) => afterWhiteSpace(lexeme))

function describe({ low, high, step, notSteps, plain }: NumberSet): string {
  const bound = (one: Bound | undefined): string =>
    one === undefined ? "" : `${printDecimal(one.value)}${one.open ? "!" : ""}`
  const steps = (list: readonly Decimal[]): string => list.map(printDecimal).join(",")
  const own = step === undefined ? "" : printDecimal(step)
  return `${bound(low)};${bound(high)};${own};${steps(notSteps)};${plain === true}`
}

/** The sets of a type are asked for wherever the type is: each is described once. */
const described = memory.derived((set: NumberSet) => describe(set))

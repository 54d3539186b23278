/** Values of a type in a notation: which lexemes can begin one. */
import { afterWhiteSpace, type Lexeme, literalLexeme } from "../automaton/lexeme.ts"
import { numberLexeme } from "../automaton/number-lexeme.ts"
import { stringLexeme } from "../automaton/string-lexemes.ts"
import { stringLanguage } from "../automaton/text-language.ts"
import type { Notation } from "../grammar/notation.ts"
import type { NumberSet, Shape, StringSet, ValueType } from "../schema/types.ts"
import { enterArray } from "./arrays.ts"
import type { Frame, FrameStore, Sink } from "./frames.ts"
import { enterObject } from "./objects.ts"

/** Which part of a type is meant: families that mark strings in their syntax need strings and the rest apart. */
export type Kinds = "all" | "strings" | "others"

export interface ValueWriter {
  readonly store: FrameStore
  /** Puts the beginnings of a value into the sink; `frame` gets outcome 0 when the value is through. */
  value(type: ValueType, notation: Notation, lead: boolean, frame: Frame, sink: Sink, kinds?: Kinds): void
  /** A lexeme for a text or one of several, with the white space of the notation before it where `lead` is set. */
  literals(texts: readonly string[], notation: Notation, lead: boolean): Lexeme
}

export function createValueWriter(store: FrameStore): ValueWriter {
  const literalCache = new Map<string, Lexeme>()
  const lexemes = createLexemeCache()

  function literals(texts: readonly string[], notation: Notation, lead: boolean): Lexeme {
    const spaced = lead && notation.whitespace === "json"
    const key = `${spaced ? " " : ""}${JSON.stringify(texts)}`
    let lexeme = literalCache.get(key)
    if (lexeme === undefined) literalCache.set(key, (lexeme = spaced ? afterWhiteSpace(literalLexeme(texts)) : literalLexeme(texts)))
    return lexeme
  }

  function value(type: ValueType, notation: Notation, lead: boolean, frame: Frame, sink: Sink, kinds: Kinds = "all"): void {
    const shape = type.algebra.livingShape(type)
    const spaced = lead && notation.whitespace === "json"
    if (kinds !== "others") for (const set of shape.strings) sink.add(lexemes.string(set, notation, spaced), frame)
    if (kinds === "strings") return
    const words = wordsOf(shape, notation)
    if (words.length > 0) sink.add(literals(words, notation, lead), frame)
    if (shape.numbers.length > 0) sink.add(lexemes.number(shape.numbers, notation, spaced), frame)
    for (const set of shape.arrays) enterArray(set, type.algebra, notation, lead, frame, sink, writer)
    for (const set of shape.objects) enterObject(set, type.algebra, notation, lead, frame, sink, writer)
  }

  const writer: ValueWriter = { store, value, literals }
  return writer
}

function wordsOf(shape: Shape, notation: Notation): string[] {
  return [...(shape.null ? [notation.null] : []), ...(shape.true ? [notation.true] : []), ...(shape.false ? [notation.false] : [])]
}

/** Lexemes of sets, remembered on the sets themselves, so that the common ones are the same for every grammar. */
const strings = new WeakMap<StringSet, Map<string, Lexeme>>()
const numbers = new WeakMap<NumberSet, Map<string, { sets: readonly NumberSet[]; lexeme: Lexeme }[]>>()

function createLexemeCache() {
  return {
    string(set: StringSet, notation: Notation, spaced: boolean): Lexeme {
      let known = strings.get(set)
      if (known === undefined) strings.set(set, (known = new Map()))
      const key = `${spaced}${JSON.stringify(notation.string)}`
      let lexeme = known.get(key)
      if (lexeme === undefined) {
        const plain = `false${JSON.stringify(notation.string)}`
        lexeme = known.get(plain) ?? stringLexeme(notation.string, stringLanguage(set))
        known.set(plain, lexeme)
        if (spaced) known.set(key, (lexeme = afterWhiteSpace(lexeme)))
      }
      return lexeme
    },
    number(sets: readonly NumberSet[], notation: Notation, spaced: boolean): Lexeme {
      const first = sets[0]!
      let known = numbers.get(first)
      if (known === undefined) numbers.set(first, (known = new Map()))
      const key = `${spaced}${notation.wholeNumbers ?? "any"}`
      const list = known.get(key) ?? []
      known.set(key, list)
      const same = list.find((entry) => entry.sets.length === sets.length && entry.sets.every((set, index) => set === sets[index]))
      if (same !== undefined) return same.lexeme
      const plain = numberLexeme(sets, notation.wholeNumbers === "plain")
      const lexeme = spaced ? afterWhiteSpace(plain) : plain
      list.push({ sets, lexeme })
      return lexeme
    },
  }
}

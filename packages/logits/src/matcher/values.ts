/** Values of a type in a notation: which lexemes can begin one. */
import { memory } from "@toolwright/toolbox"
import { afterWhiteSpace, type Lexeme, literalLexeme } from "../lexeme/lexeme.ts"
import type { Notation, StringStyle } from "../grammar/notation.ts"
import type { BoundGrounding } from "../grammar/bound-grounding.ts"
import type { NumberSet, Shape, StringSet, ValueType } from "../schema/types.ts"
import { enterArray } from "./arrays.ts"
import type { Frame, FrameStore, Sink } from "./frames.ts"
import { enterObject } from "./objects.ts"
import type { Kinds } from "../plan/kinds.ts"
import { widerObjects } from "../schema/wider-objects.ts"
import type { Captured, ValuePlace, ValueWriter } from "./value-writer.ts"
import { sharedGraphLexeme, sharedNumberLexeme, sharedStringLexeme } from "./shared-lexemes.ts"

/** Numbers that are listed are texts without quotes. */
const DIGITS: StringStyle = { kind: "bare", stop: [] }

/** Punctuation and words are the same in most grammars, and so is what tokens do to them. */
const knownLiterals = memory.latest<Lexeme>(1000)

/** @param grounding what grounded values have to come from */
export function createValueWriter(
  store: FrameStore,
  capture: (type: ValueType, notation: Notation) => Captured,
  grounding?: BoundGrounding,
): ValueWriter {
  function literals(texts: readonly string[], notation: Notation, lead: boolean): Lexeme {
    const spaced = lead && notation.whitespace === "json"
    const key = `${spaced ? " " : ""}${JSON.stringify(texts)}`
    return knownLiterals.get(key, () => (spaced ? afterWhiteSpace(literalLexeme(texts)) : literalLexeme(texts)))
  }

  function value(type: ValueType, { notation, lead, frame }: ValuePlace, sink: Sink, kinds: Kinds = "all"): void {
    const shape = type.algebra.livingShape(type)
    const spaced = lead && notation.whitespace === "json"
    if (kinds !== "others") for (const set of shape.strings) addString(set, notation, spaced, frame, sink)
    if (kinds === "strings") return
    const words = wordsOf(shape, notation)
    if (words.length > 0) sink.add(literals(words, notation, lead), frame)
    addNumbers(shape.numbers, notation, spaced, frame, sink)
    const place = { notation, lead, parent: frame, writer }
    for (const set of shape.arrays) enterArray(set, type.algebra, place, sink)
    // Whether one with a demand to use what was said lies in another, its rules do not tell.
    const objects = grounding === undefined ? widerObjects(shape.objects) : shape.objects
    for (const set of objects) enterObject(set, type.algebra, place, sink)
  }

  function addString(set: StringSet, notation: Notation, spaced: boolean, frame: Frame, sink: Sink): void {
    const said = set.grounded === undefined ? undefined : grounding?.strings(set, notation.string)
    if (said === undefined || said.length === 0) sink.add(sharedStringLexeme(set, notation.string, spaced), frame)
    else for (const graph of said) sink.add(sharedGraphLexeme(graph, notation.string, spaced), frame)
  }

  function addNumbers(sets: readonly NumberSet[], notation: Notation, spaced: boolean, frame: Frame, sink: Sink): void {
    let free = sets
    if (grounding !== undefined && sets.some((set) => set.grounded !== undefined)) {
      free = sets.filter((set) => {
        const said = grounding.numbers(set)
        for (const graph of said) sink.add(sharedGraphLexeme(graph, DIGITS, spaced), frame)
        return said.length === 0
      })
    }
    if (free.length > 0) sink.add(sharedNumberLexeme(free, notation.wholeNumbers === "plain", spaced), frame)
  }

  const captures = new Map<ValueType, Captured>()
  const captured = (type: ValueType, notation: Notation): Captured => {
    let known = captures.get(type)
    if (known === undefined) captures.set(type, (known = capture(type, notation)))
    return known
  }

  const writer: ValueWriter = { store, keys: new Map(), value, literals, captured }
  return writer
}

function wordsOf(shape: Shape, notation: Notation): string[] {
  return [
    ...(shape.null ? [notation.null] : []),
    ...(shape.true ? [notation.true] : []),
    ...(shape.false ? [notation.false] : []),
  ]
}

/** Languages of texts as plain expressions, each character written by a style. */
import type { Dfa } from "../automaton/dfa.ts"
import type { RegexNode } from "../automaton/regex-syntax.ts"
import { withinLength } from "../automaton/written.ts"
import { type CodePointRange, choice, literal, type PlainExpression, repeat, sequence } from "../grammar/rules.ts"
import type { StringSet } from "../schema/types.ts"
import type { RuleBook } from "./rule-book.ts"

/** How characters of a text are written in a style. */
export interface CharacterWriter {
  /** Names the style in rule names. */
  readonly id: string
  text(text: string): string
  /** One character out of the ranges. */
  chars(ranges: readonly CodePointRange[]): PlainExpression
}

const LISTED = 500

/** States up to which a language is written state by state, though there is a shorter form. */
const FEW_STATES = 8

/** Texts of a language with lengths within bounds as its pattern counts them; nothing where there is no such form. */
export function writtenExpression(
  { language, min, max }: Pick<StringSet, "language" | "min" | "max">,
  writer: CharacterWriter,
): PlainExpression | undefined {
  if (language.size <= FEW_STATES && min === 0 && max === Infinity) return undefined
  for (const form of language.written ?? []) {
    const tree = withinLength(form, min, max)
    if (tree !== undefined) return expressionOf(tree, writer)
  }
  return undefined
}

function expressionOf(node: RegexNode, writer: CharacterWriter): PlainExpression {
  switch (node.kind) {
    case "chars": {
      const [only, ...more] = node.ranges
      const isOne = only !== undefined && more.length === 0 && only[0] === only[1]
      return isOne ? literal(writer.text(String.fromCodePoint(only[0]))) : writer.chars(node.ranges)
    }
    case "sequence":
      return sequence(...node.parts.map((part) => expressionOf(part, writer)))
    case "choice":
      return choice(...node.options.map((option) => expressionOf(option, writer)))
    case "repeat":
      return repeat(expressionOf(node.of, writer), node.min, node.max)
    default:
      return literal("")
  }
}

/** Looking at so many intervals of characters counts as one step of the book. */
const INTERVALS_A_STEP = 16
/** A range of characters is some twenty characters of text: so a grammar has a few megabytes at most. */
const STEPS_A_RANGE = 20
/** So many ranges are a rule of their own. */
const MANY_RANGES = 12

/** The texts of a language, spelt out one by one where they are few, else as rules for the automaton's states. */
export function languageExpression(
  dfa: Dfa,
  writer: CharacterWriter,
  book: RuleBook,
  key: string,
  name: string,
): PlainExpression {
  book.spend(Math.ceil((dfa.size * dfa.cuts.length) / INTERVALS_A_STEP))
  const texts = listTexts(dfa)
  if (texts !== undefined) return choice(...texts.map((text) => literal(writer.text(text))))
  return book.define(`${key};${writer.id}`, name, () => stateRules(dfa, writer, book, key, name))
}

function stateRules(dfa: Dfa, writer: CharacterWriter, book: RuleBook, key: string, name: string): PlainExpression {
  const uses = countUses(dfa)
  const written = (ranges: readonly CodePointRange[]): PlainExpression => {
    book.spend(ranges.length * STEPS_A_RANGE)
    return writer.chars(ranges)
  }
  // Letters of all scripts are some thousand characters of text, and a counted pattern has a state for each count.
  const oneOf = (ranges: readonly CodePointRange[], classes: () => string): PlainExpression =>
    ranges.length < MANY_RANGES
      ? written(ranges)
      : book.define(`${key};${writer.id};class ${classes()}`, `${name}-class`, () => written(ranges))
  const state = (index: number): PlainExpression => {
    const inline = uses[index] === 1 && index !== dfa.start
    if (inline) return body(index)
    return book.define(`${key};${writer.id};${index}`, `${name}-s${index}`, () => body(index))
  }
  const body = (index: number): PlainExpression => {
    const options: PlainExpression[] = []
    for (const [target, ranges] of edgesOf(dfa, index)) {
      const end = dfa.accept[target] === 1 && targetsOf(dfa, target).size === 0
      const characters = oneOf(ranges, () => classesTo(dfa, index, target))
      options.push(end ? characters : sequence(characters, state(target)))
    }
    if (dfa.accept[index] === 1) options.push(literal(""))
    return choice(...options)
  }
  return state(dfa.start)
}

/** The classes of characters that lead from a state to another. */
function classesTo({ table, classes }: Dfa, state: number, target: number): string {
  const found: number[] = []
  for (let c = 0; c < classes; c++) if (table[state * classes + c] === target) found.push(c)
  return found.join()
}

/** The targets of a state with the characters that lead there, in the order of the first of them. */
function edgesOf(dfa: Dfa, state: number): [number, CodePointRange[]][] {
  const { cuts, classOf, classes, table } = dfa
  const edges = new Map<number, [number, number][]>()
  for (let index = 0; index < cuts.length; index++) {
    const target = table[state * classes + classOf[index]!]!
    if (target < 0) continue
    const cut = cuts[index]!
    const last = (cuts[index + 1] ?? 0x110000) - 1
    let ranges = edges.get(target)
    if (ranges === undefined) edges.set(target, (ranges = []))
    const previous = ranges.at(-1)
    if (previous !== undefined && previous[1] === cut - 1) previous[1] = last
    else ranges.push([cut, last])
  }
  return [...edges]
}

function countUses(dfa: Dfa): number[] {
  const uses = Array.from({ length: dfa.size }, () => 0)
  for (let state = 0; state < dfa.size; state++)
    for (const target of targetsOf(dfa, state)) uses[target] = uses[target]! + 1
  return uses
}

/** Where a state leads: classes are few where intervals are hundreds. */
function targetsOf({ table, classes }: Dfa, state: number): Set<number> {
  const targets = new Set(table.subarray(state * classes, (state + 1) * classes))
  targets.delete(-1)
  return targets
}

/** The texts of a language where they are at most five hundred, in the order of their characters. */
export function listTexts(dfa: Dfa): string[] | undefined {
  const texts: string[] = []
  const open = new Set<number>()
  const visit = (state: number, text: string): boolean => {
    if (open.has(state)) return false
    open.add(state)
    if (dfa.accept[state] === 1) texts.push(text)
    for (const [target, ranges] of edgesOf(dfa, state)) {
      for (const [first, last] of ranges) {
        if (last - first > LISTED) return false
        for (let code = first; code <= last; code++) {
          if (texts.length > LISTED || !visit(target, text + String.fromCodePoint(code))) return false
        }
      }
    }
    open.delete(state)
    return true
  }
  return dfa.start >= 0 && visit(dfa.start, "") && texts.length <= LISTED ? texts : undefined
}

/** Strings in every style, as plain expressions. */
import { memory } from "@toolwright/toolbox"
import { textWithout } from "../automaton/text-without.ts"
import { ANY_TEXT, complementDfa, haveCommonText, intersectDfa } from "../automaton/dfa-algebra.ts"
import type { Dfa } from "../automaton/dfa.ts"
import { cannotHold } from "../automaton/written.ts"
import { invertRanges, subtractRanges } from "../automaton/ranges.ts"
import { withLength } from "../schema/strings.ts"
import type { StringSet } from "../schema/types.ts"
import type { StringStyle } from "../grammar/notation.ts"
import {
  chars,
  choice,
  type CodePointRange,
  literal,
  type PlainExpression,
  repeat,
  sequence,
} from "../grammar/rules.ts"
import type { HoleMaker } from "./holes.ts"
import { type CharacterWriter, languageExpression, writtenExpression } from "./languages.ts"
import type { RuleBook } from "./rule-book.ts"

/** The rule that a string becomes. */
export interface StringRule {
  readonly book: RuleBook
  /** Tells the set apart from others; the same for the same set. */
  readonly key: string
  readonly name: string
}

export function stringExpression(
  set: StringSet,
  style: StringStyle,
  rule: StringRule,
  holes?: HoleMaker,
): PlainExpression {
  const grounded = (writer: CharacterWriter): PlainExpression | undefined => holes?.text(set, style, writer)
  switch (style.kind) {
    case "json":
      return quoted(set, JSON_QUOTES, rule, grounded)
    case "python":
      return choice(quoted(set, PYTHON_DOUBLE, rule, grounded), quoted(set, PYTHON_SINGLE, rule, grounded))
    case "delimited": {
      const inside = { ...set, language: without(set.language, [style.close]) }
      return sequence(
        literal(style.open),
        grounded(RAW) ?? textExpression(inside, RAW, { ...rule, key: `${rule.key};${style.close}` }),
        literal(style.close),
      )
    }
    case "bare": {
      const inside = { ...set, language: without(set.language, style.stop) }
      return grounded(RAW) ?? textExpression(inside, RAW, { ...rule, key: `${rule.key};${style.stop.join("|")}` })
    }
  }
}

/** Quotes, how characters are escaped between them, and what tells the rules about them from other quotes' rules. */
interface Quotes {
  readonly quote: '"' | "'"
  readonly kind: "json" | "python"
  readonly suffix: string
}

const JSON_QUOTES: Quotes = { quote: '"', kind: "json", suffix: "" }
const PYTHON_DOUBLE: Quotes = { quote: '"', kind: "python", suffix: "-double" }
const PYTHON_SINGLE: Quotes = { quote: "'", kind: "python", suffix: "-single" }

/** How characters are written within a string that a grammar spells out, without its quotes. */
export function characterWriter(kind: "json" | "python" | "raw", quote: '"' | "'" = '"'): CharacterWriter {
  return kind === "raw" ? RAW : quotedWriter(quote, kind, () => neededEscape(quote))
}

const RAW: CharacterWriter = { id: "raw", text: (text) => text, chars: (ranges) => chars(...ranges) }

/** The texts of a set, as its pattern says them where that is short, else state by state. */
function textExpression(set: StringSet, writer: CharacterWriter, { book, key, name }: StringRule): PlainExpression {
  const written = writtenExpression(set, writer)
  if (written !== undefined) return book.define(`${key};${writer.id};written`, name, () => written)
  return languageExpression(withLength(set), writer, book, key, name)
}

/** By the language of all texts without the marks. */
const withoutMarks = memory.derived((_language: Dfa) => new WeakMap<Dfa, Dfa>())

/** What of a language holds no mark; the language itself where none of its texts does. */
function without(language: Dfa, marks: readonly string[]): Dfa {
  const free = textWithout(marks)
  const known = withoutMarks(language)
  let result = known.get(free)
  if (result === undefined) known.set(free, (result = meetFree(language, free, marks)))
  return result
}

function meetFree(language: Dfa, free: Dfa, marks: readonly string[]): Dfa {
  if (!haveCommonText(language, complementDfa(free))) return language
  const written = (language.written ?? []).filter((form) => marks.every((mark) => cannotHold(form, mark)))
  const rest = intersectDfa(language, free)
  return written.length === 0 ? rest : { ...rest, written }
}

function quoted(
  set: StringSet,
  { quote, kind, suffix }: Quotes,
  rule: StringRule,
  grounded: (writer: CharacterWriter) => PlainExpression | undefined,
): PlainExpression {
  const { book } = rule
  const writer = quotedWriter(quote, kind, () =>
    book.define(`escape${suffix}`, `escape${suffix}`, () => neededEscape(quote)),
  )
  const said = grounded(writer)
  if (said !== undefined) return sequence(literal(quote), said, literal(quote))
  if (set.language !== ANY_TEXT) {
    const text = textExpression(set, writer, { ...rule, name: `${rule.name}-text${suffix}` })
    return sequence(literal(quote), text, literal(quote))
  }
  const character = book.define(`char${suffix}`, `char${suffix}`, () => anyCharacter(quote, kind))
  const whole = (): PlainExpression =>
    sequence(literal(quote), repeat(character, set.min, set.max === Infinity ? undefined : set.max), literal(quote))
  return set.min === 0 && set.max === Infinity ? book.define(`string${suffix}`, `string${suffix}`, whole) : whole()
}

const hex = chars([0x30, 0x39], [0x41, 0x46], [0x61, 0x66])
const named: readonly (readonly [code: number, letter: string])[] = [
  [8, "b"],
  [9, "t"],
  [10, "n"],
  [12, "f"],
  [13, "r"],
]
const one = (character: string): CodePointRange => [character.codePointAt(0)!, character.codePointAt(0)!]
const sorted = (...ranges: CodePointRange[]): CodePointRange[] => ranges.toSorted((a, b) => a[0] - b[0])

/** Any character or escape; halves of surrogate pairs come in pairs only. */
function anyCharacter(quote: '"' | "'", kind: "json" | "python"): PlainExpression {
  const letters = sorted(
    one("\\"),
    one('"'),
    ...(kind === "json" ? [one("/")] : [one("'")]),
    ...named.map(([, letter]) => one(letter)),
  )
  const unit = choice(
    sequence(chars([0x30, 0x39], [0x41, 0x43], [0x45, 0x46], [0x61, 0x63], [0x65, 0x66]), hex, hex, hex),
    sequence(chars(one("D"), one("d")), chars([0x30, 0x37]), hex, hex),
    sequence(
      chars(one("D"), one("d")),
      chars([0x38, 0x39], [0x41, 0x42], [0x61, 0x62]),
      hex,
      hex,
      literal("\\u"),
      chars(one("D"), one("d")),
      chars([0x43, 0x46], [0x63, 0x66]),
      hex,
      hex,
    ),
  )
  const escape = choice(chars(...letters), sequence(literal("u"), unit))
  return choice(chars(...plainRanges(quote, kind)), sequence(literal("\\"), escape))
}

/** What stands for itself between quotes. */
function plainRanges(quote: string, kind: "json" | "python"): CodePointRange[] {
  const special: CodePointRange[] = [
    [0, 0x1f],
    one(quote),
    one("\\"),
    ...(kind === "python" ? [[0x7f, 0x7f] as const] : []),
  ]
  return invertRanges(sorted(...special))
}

/** The quote, the backslash, a control character. */
function neededEscape(quote: '"' | "'"): PlainExpression {
  const letters = sorted(one("\\"), one(quote), ...named.map(([, letter]) => one(letter)))
  return sequence(literal("\\"), choice(chars(...letters), sequence(literal("u00"), chars([0x30, 0x31]), hex)))
}

/**
 * Characters that have to be escaped are written by their short escapes, or by `\u00xx`; `all` is the rule for any of
 * them.
 */
function quotedWriter(quote: '"' | "'", kind: "json" | "python", all: () => PlainExpression): CharacterWriter {
  const plain = plainRanges(quote, kind)
  const special = invertRanges(plain)
  const escapeOf = (code: number): string => {
    const letter = named.find(([known]) => known === code)?.[1]
    if (letter !== undefined) return `\\${letter}`
    const character = String.fromCodePoint(code)
    return character === quote || character === "\\" ? `\\${character}` : `\\u${code.toString(16).padStart(4, "0")}`
  }
  const isPlain = (code: number): boolean => plain.some(([first, last]) => code >= first && code <= last)
  return {
    id: `${kind}${quote}`,
    text(text) {
      // Most texts need no escape.
      if (/^[ !#-&(-[\]-~]*$/.test(text)) return text
      return Array.from(text, (character) =>
        isPlain(character.codePointAt(0)!) ? character : escapeOf(character.codePointAt(0)!),
      ).join("")
    },
    chars(ranges) {
      const kept = subtractRanges(ranges, invertRanges(plain))
      if (subtractRanges(special, ranges).length === 0)
        return choice(...(kept.length === 0 ? [] : [chars(...kept)]), all())
      const escaped = subtractRanges(ranges, plain).flatMap(([first, last]) =>
        Array.from({ length: last - first + 1 }, (_, index) => literal(escapeOf(first + index))),
      )
      return choice(...(kept.length === 0 ? [] : [chars(...kept)]), ...escaped)
    },
  }
}

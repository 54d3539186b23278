/** Lexemes of sets, remembered on the sets themselves, so that the common ones are the same for every grammar. */
import { afterWhiteSpace, type Lexeme } from "../automaton/lexeme.ts"
import { numberLexeme } from "../automaton/number-lexeme.ts"
import { stringLexeme } from "../automaton/string-lexemes.ts"
import { stringLanguage } from "../automaton/text-language.ts"
import type { StringStyle } from "../grammar/notation.ts"
import type { NumberSet, StringSet } from "../schema/types.ts"

const strings = new WeakMap<StringSet, Map<string, Lexeme>>()
const numbers = new WeakMap<NumberSet, { key: string; sets: readonly NumberSet[]; lexeme: Lexeme }[]>()

/** @param spaced whether white space may come before */
export function sharedStringLexeme(set: StringSet, style: StringStyle, spaced: boolean): Lexeme {
  let known = strings.get(set)
  if (known === undefined) strings.set(set, (known = new Map()))
  const plainKey = JSON.stringify(style)
  let plain = known.get(plainKey)
  if (plain === undefined) known.set(plainKey, (plain = stringLexeme(style, stringLanguage(set))))
  if (!spaced) return plain
  let lexeme = known.get(` ${plainKey}`)
  if (lexeme === undefined) known.set(` ${plainKey}`, (lexeme = afterWhiteSpace(plain)))
  return lexeme
}

export function sharedNumberLexeme(sets: readonly NumberSet[], plain: boolean, spaced: boolean): Lexeme {
  const first = sets[0]!
  let known = numbers.get(first)
  if (known === undefined) numbers.set(first, (known = []))
  const key = `${plain}${spaced}`
  const same = known.find((entry) => entry.key === key && entry.sets.length === sets.length && entry.sets.every((set, index) => set === sets[index]))
  if (same !== undefined) return same.lexeme
  const inner = numberLexeme(sets, plain)
  const lexeme = spaced ? afterWhiteSpace(inner) : inner
  known.push({ key, sets, lexeme })
  return lexeme
}

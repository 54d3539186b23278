/** Works out for a vocabulary what every JSON grammar will ask, so that the first reply does not wait for it. */
import { afterWhiteSpace } from "../automaton/lexeme.ts"
import { numberLexeme } from "../automaton/number-lexeme.ts"
import { jsonNotation } from "../grammar/notation.ts"
import { sharedStringLexeme } from "../matcher/shared-lexemes.ts"
import { ANY_STRING } from "../schema/strings.ts"
import { ANY_NUMBER } from "../schema/types.ts"
import { lexemeMask, warmFreeText } from "./lexeme-masks.ts"
import type { Tokenizer } from "./tokenizer.ts"

const WARM = {}

export function warmTokenizer(tokenizer: Tokenizer): void {
  if (tokenizer.notes.has(WARM)) return
  tokenizer.notes.set(WARM, true)
  warmFreeText(tokenizer)
  for (const spaced of [false, true]) {
    const string = sharedStringLexeme(ANY_STRING, jsonNotation.string, spaced)
    const body = string.next(string.start, 0x22)
    const escape = string.next(body, 0x5c)
    for (const state of [string.start, body, escape, string.next(escape, 0x75)]) lexemeMask(tokenizer, string, state)
    const number = spaced ? afterWhiteSpace(numberLexeme([ANY_NUMBER], false)) : numberLexeme([ANY_NUMBER], false)
    lexemeMask(tokenizer, number, number.start)
  }
}

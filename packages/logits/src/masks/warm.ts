/** Works out for a vocabulary what every JSON grammar will ask, so that the first reply does not wait for it. */
import { jsonNotation } from "../grammar/notation.ts"
import { sharedNumberLexeme, sharedStringLexeme } from "../matcher/shared-lexemes.ts"
import { WHOLE_NUMBERS } from "../schema/keywords.ts"
import { ANY_STRING } from "../schema/strings.ts"
import { ANY_NUMBER } from "../schema/types.ts"
import { warmFreeText } from "./free-text.ts"
import { lexemeMask } from "./lexeme-masks.ts"
import { sliceTokens } from "./slice-tokens.ts"
import type { Tokenizer } from "./tokenizer.ts"

const WARM = {}

export function warmTokenizer(tokenizer: Tokenizer): void {
  if (tokenizer.notes.has(WARM)) return
  tokenizer.notes.set(WARM, true)
  warmFreeText(tokenizer)
  sliceTokens(tokenizer)
  for (const spaced of [false, true]) {
    const string = sharedStringLexeme(ANY_STRING, jsonNotation.string, spaced)
    const body = string.next(string.start, 0x22)
    const escape = string.next(body, 0x5c)
    for (const state of [string.start, body, escape, string.next(escape, 0x75)]) lexemeMask(tokenizer, string, state)
    for (const set of [ANY_NUMBER, WHOLE_NUMBERS]) {
      const number = sharedNumberLexeme([set], true, spaced)
      const digit = number.next(number.start, 0x31)
      for (const state of [number.start, digit, number.next(digit, 0x31)]) lexemeMask(tokenizer, number, state)
    }
  }
}

/** The parts out of which masks are put together, on a vocabulary of their own: every token at every step. */
import { expect, test } from "vitest"
import { createRandom } from "../sampling/index.ts"
import { modelJsonNotation } from "../grammar/notation.ts"
import { schemaToGrammar } from "../constraint/schema-grammar.ts"
import type { Schema } from "../schema/json-schema.ts"
import { isAllowed } from "./apply.ts"
import { createMaskEngine } from "./engine.ts"
import { createTokenizer, type Tokenizer } from "./tokenizer.ts"

const PIECES: readonly string[] = [
  [...'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789 \n\t"\\/:,.{}[]-_+#@é\u2028'],
  "name agent agentName na nam ent Name city zeta zet key value file path Path été über 東京 東 a_b a-b x9 9x".split(
    " ",
  ),
  ['"', '":', '": "', '":"', '":{"', '":[', '":{}', '",', '","', '", "', '"}', '"}}', '"]', '{"', '[{"', "},", "}]"],
  [
    'a"',
    'b":"',
    'e":',
    'x"}',
    '\\"',
    "\\n",
    "\\u00",
    "\\u00e9",
    "e9",
    "true",
    "false",
    "null",
    "12",
    "123",
    "1,",
    "-1",
  ],
  [" a", " the", "a.b", "a/b", "://", "x y", "a\\", "abcdefghijklmnopqrstuvwxyzabc", "                            "],
  ["é", "éa", "a\u2028b", "\ufb01", "a\ufb01b"],
].flat()

function tinyTokenizer(): Tokenizer {
  const bytes = [...new Set(PIECES)].map((piece) => new TextEncoder().encode(piece))
  // Halves of characters, bytes that stand in no text, and a token that is there twice.
  const odd = [
    [0xe6],
    [0x9d, 0xb1],
    [0xc3],
    [0xa9, 0x61],
    [0xff],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xe2, 0x80],
    [0xa8],
  ]
  const tokens = [...bytes, ...odd.map((list) => Uint8Array.from(list)), new TextEncoder().encode("name")]
  return createTokenizer({ tokens: [...tokens, null], eos: [tokens.length] })
}

const closed = (properties: Record<string, unknown>, more: object = {}): Schema =>
  ({ type: "object", properties, additionalProperties: false, ...more }) as Schema

const pattern = (text: string, more: object = {}): Schema => ({ type: "string", pattern: text, ...more }) as Schema

const SCHEMAS: Record<string, Schema> = {
  "closed names, which become fewer": closed({ agent: {}, agentName: {}, name: {}, na: {}, city: {} }),
  "closed names that need escapes": closed({ 'a"b': {}, "a\\b": {}, été: {}, "a\nb": {} }),
  "open names": {
    type: "object",
    properties: { name: { type: "integer" }, agent: { type: "string" }, été: {} },
  } as Schema,
  "an empty name among open ones": {
    type: "object",
    properties: { "": { type: "null" }, a: { type: "null" } },
  } as Schema,
  "names by pattern": { type: "object", patternProperties: { "^[a-z]+$": {} }, additionalProperties: false } as Schema,
  "any text but slashes": pattern("^[^/]+/[^/]+$"),
  "what a dot stands for": pattern("^a.*$"),
  "no characters above the surrogates": pattern("^[\\u0000-\\ud7ff]*$"),
  "small letters": pattern("^[a-z]+(-[a-z]+)*$"),
  words: pattern("^[0-9a-zA-Z_-]{1,255}$"),
  "words with bounds": pattern("^[a-zA-Z]+$", { minLength: 3, maxLength: 40 }),
  "an even number of letters": pattern("^([a-z][a-z])*$", { maxLength: 30 }),
  "a few characters": { type: "string", maxLength: 5 } as Schema,
  "a choice of objects": {
    anyOf: Array.from({ length: 12 }, (_, index) => closed({ name: { const: index }, [`key${index}`]: {}, a: {} })),
  } as Schema,
  numbers: { type: "array", items: { type: ["number", "string"], maximum: 123, maxLength: 3 } } as Schema,
}

function follow(schema: Schema, seed: number): void {
  const tokenizer = tinyTokenizer()
  const engine = createMaskEngine(schemaToGrammar(schema, { notation: modelJsonNotation }), tokenizer)
  const random = createRandom(seed)
  const matcher = engine.matcher()
  for (let step = 0; step < 40 && !matcher.isEnded(); step++) {
    const mask = matcher.mask()
    const allowed: number[] = []
    for (let token = 0; token < tokenizer.size; token++) {
      const bytes = tokenizer.bytesOf(token)
      const accepted = tokenizer.eos.includes(token)
        ? matcher.isComplete()
        : bytes !== null && matcher.bytes.accepts(bytes)
      // Asked of a million tokens: told only where the two disagree.
      if (isAllowed(mask, token) !== accepted)
        expect.fail(
          `the mask says ${!accepted}, the matcher ${accepted} of ` +
            `${JSON.stringify(new TextDecoder().decode(bytes ?? undefined))} in step ${step}, walk ${seed}`,
        )
      if (accepted) allowed.push(token)
    }
    // So small a vocabulary cannot say everything that has been begun.
    if (allowed.length === 0) return
    expect(matcher.accept(allowed[Math.floor(random() * allowed.length)]!)).toBe(true)
  }
}

test.each(Object.entries(SCHEMAS))("%s", (_, schema) => {
  for (let seed = 1; seed <= 12; seed++) follow(schema, seed)
})

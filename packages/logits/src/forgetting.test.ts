import { memory } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { createMatcher, grammarToGbnf, lowerGrammar, schemaToGrammar } from "./index.ts"

const SCHEMAS = [
  { type: "string", pattern: "^\\p{Lu}[a-z]{2,5}$", maxLength: 4 },
  { type: "number", minimum: 3, multipleOf: 0.5 },
  { type: "string", format: "date" },
  { type: "array", items: { enum: [1, 2, 3] }, minItems: 1, uniqueItems: true, maxItems: 3 },
  {
    type: "object",
    properties: { a: { type: "string" } },
    required: ["a"],
    patternProperties: { "^x-": { type: "null" } },
  },
  { anyOf: [{ const: "yes" }, { type: "object", additionalProperties: { type: "boolean" } }] },
] as const
const TEXTS = [
  '"Abc"',
  '"abc"',
  "3.5",
  "3.2",
  '"2024-02-29"',
  "[1,2]",
  "[1,1]",
  '{"a":"b","x-c":null}',
  '"yes"',
  '{"k":true}',
]

test("what the room remembers decides nothing: with all of it forgotten, at any time, grammars and matches are the same", () => {
  for (const schema of SCHEMAS) {
    const said = () => {
      const grammar = schemaToGrammar(schema)
      return [
        grammarToGbnf(lowerGrammar(grammar)),
        ...TEXTS.map((text) => {
          const matcher = createMatcher(grammar)
          const half = matcher.accept(text.slice(0, 3))
          if (forgetful) memory.forget()
          return half && matcher.accept(text.slice(3)) && matcher.isComplete()
        }),
      ]
    }
    let forgetful = false
    const kept = said()
    forgetful = true
    memory.forget()
    expect(said()).toEqual(kept)
  }
})

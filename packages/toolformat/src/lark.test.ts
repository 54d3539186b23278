import { gbnfToLark, matchesGbnf, schemaToGBNF } from "@toolwright/logits"
import { expect, test } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { readLark } from "./fixtures/lark-reader.ts"
import { toolOf } from "./fixtures/support.ts"
import { formatterOf, grammarText } from "./index.ts"

test("what a schema takes and refuses is the same in Lark", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", minLength: 2 },
      tags: { type: "array", items: { type: "integer" } },
      any: {},
    },
    required: ["name"],
    additionalProperties: false,
  } as const
  const grammar = readLark(gbnfToLark(schemaToGBNF(schema)))
  const takes = (value: unknown): boolean => matchesGbnf(grammar, JSON.stringify(value))
  const right = [{ name: "Zoë" }, { name: 'a"\\', tags: [1, -2], any: { a: [null, 1.5, "é"] } }]
  const wrong = [{ name: "Z" }, {}, { name: "Zoe", tags: ["1"] }, { name: "Zoe", more: 1 }]
  expect([...right, ...wrong].map(takes)).toEqual([true, true, false, false, false, false])
})

test("names that only differ in signs stay apart", () => {
  const grammar = readLark(gbnfToLark('root ::= a-b a-B\na-b ::= "1"\na-B ::= "2"\n'))
  expect([matchesGbnf(grammar, "12"), matchesGbnf(grammar, "11")]).toEqual([true, false])
})

const TOOLS = [
  toolOf({
    name: "get_weather",
    parameters: {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" }, more: { type: "object" } },
      required: ["city"],
    },
  }),
  toolOf({ name: "ping" }),
]

test.each(FORMATS.filter(({ apiOnly }) => apiOnly === undefined).map((format) => [format.id, format] as const))(
  "the Lark of %s takes what the format prints, and no other types",
  (_, format) => {
    const formatter = formatterOf(format)
    const grammar = readLark(gbnfToLark(grammarText(format, TOOLS, { mode: "call" }).text))
    const id = format.ids === "ordinal" ? "0" : "call00000"
    const print = (name: string, args: object): string =>
      formatter.printCalls([{ id, name, arguments: args as never }], TOOLS)
    const city = 'Zürich\n"a" <b>'
    expect(matchesGbnf(grammar, print("get_weather", { city, days: 3 }))).toBe(true)
    expect(matchesGbnf(grammar, print("ping", {}))).toBe(true)
    expect(matchesGbnf(grammar, print("unknown", {}))).toBe(false)
    expect(matchesGbnf(grammar, print("get_weather", { city: "Bonn", days: true }))).toBe(false)
  },
)

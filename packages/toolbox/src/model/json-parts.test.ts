import fc from "fast-check"
import { expect, test } from "vitest"
import { jsonParts } from "./json-parts.ts"

const LONG = 'a\n"b\\\u2028é\ud800'.repeat(200)

/** What `JSON.stringify` makes of a value, or that it throws. */
function outcome(write: () => string | undefined): unknown {
  try {
    return { json: write() }
  } catch {
    return "throws"
  }
}

function isAsBefore(value: unknown): void {
  expect(outcome(() => jsonParts(value)?.json)).toEqual(outcome(() => JSON.stringify(value)))
}

test("writes every value as JSON.stringify does", () => {
  const long = fc.constantFrom(LONG, `${LONG}x`, LONG.toUpperCase())
  const odd = fc.constantFrom<unknown>(
    undefined,
    NaN,
    -0,
    1n,
    Symbol("s"),
    () => 1,
    new Date(0),
    new Date(NaN),
    new Map([[1, 2]]),
    new String("boxed"),
    Object(1n),
    Array(2),
    Object.create(null),
    { toJSON: () => LONG },
    { toJSON: undefined },
    Object.assign([1], { toJSON: () => "list" }),
    Object.defineProperty({ seen: 1 }, "hidden", { value: LONG, enumerable: false }),
    JSON.parse('{"__proto__":{"a":1}}'),
    { [Symbol("s")]: LONG, 2: LONG, 1: "first" },
    new (class {
      own = LONG
      get inherited() {
        return LONG
      }
    })(),
  )
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 8 },
      long,
      odd,
      fc.jsonValue(),
      fc.string(),
      fc.array(tie("any"), { maxLength: 6 }),
      fc.dictionary(fc.string(), tie("any"), { maxKeys: 50 }),
    ),
  })).any
  fc.assert(fc.property(value, isAsBefore), { numRuns: 3000 })
})

test("throws where JSON.stringify throws: cycles, nesting without end, getters", () => {
  const cycle: Record<string, unknown> = { text: LONG }
  cycle.again = [cycle]
  isAsBefore(cycle)
  const deep: unknown[] = []
  for (let at = 0, inner = deep; at < 100_000; at++) inner.push((inner = []))
  isAsBefore({ deep })
  isAsBefore(
    Object.defineProperty({}, "text", {
      enumerable: true,
      get: () => {
        throw new Error("no")
      },
    }),
  )
})

test("gives long texts near the top by themselves, and the rest without them", () => {
  const result = { content: [{ type: "text", text: LONG }], structuredContent: { content: LONG, lines: 3 } }
  const { json, frame, texts } = jsonParts({ result, id: 1 })!
  expect(JSON.parse(json)).toEqual({ result, id: 1 })
  expect(texts).toEqual([LONG, LONG])
  expect(frame).toBe(
    '{"result":{"content":[{"type":"text","text":""}],"structuredContent":{"content":"","lines":3}},"id":1}',
  )
})

test("a text that was written out is known again among many, by what it says", () => {
  const texts = Array.from({ length: 20 }, (_, at) => `${LONG}${at}`)
  for (const text of [...texts, ...texts.toReversed(), ...texts.flatMap((text) => [text, `${text.slice(0, -1)}y`])])
    expect(jsonParts(text)!.json).toBe(JSON.stringify(text))
})

import { Ajv2020 } from "ajv/dist/2020.js"
import fc from "fast-check"
import { expect, test } from "vitest"
import { randomSchema, randomValue } from "../fixtures/random-schema.ts"
import { modelJsonNotation } from "../grammar/notation.ts"
import { compileSchema } from "../constraint/schema-grammar.ts"
import { lowerGrammar } from "../lowering/index.ts"
import { createMatcher, type Matcher } from "../matcher/matcher.ts"
import { createRandom } from "../sampling/index.ts"

const ajv = new Ajv2020({ strict: false, allErrors: false })

function accepts(matcher: Matcher, text: string): boolean {
  matcher.reset()
  return matcher.accept(text) && matcher.isComplete()
}

/**
 * A text drawn byte by byte from what the matcher allows, with a leaning to come to an end; undefined where it gets too
 * long.
 */
function draw(matcher: Matcher, random: () => number): string | undefined {
  matcher.reset()
  const bytes: number[] = []
  while (bytes.length < 400) {
    if (matcher.isComplete() && (matcher.isFinished() || random() < 0.5))
      return new TextDecoder().decode(Uint8Array.from(bytes))
    const options = matcher.machine.bytes(matcher.state)
    if (options.length === 0) throw new Error(`dead end after ${new TextDecoder().decode(Uint8Array.from(bytes))}`)
    const ends = options.filter((byte) => [0x22, 0x7d, 0x5d].includes(byte))
    const plain = options.filter(
      (byte) => byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09 && byte !== 0x5c && byte < 0x80,
    )
    const from = ends.length > 0 && random() < 0.5 ? ends : plain.length > 0 ? plain : options
    const byte = from[Math.floor(random() * from.length)]!
    matcher.accept(Uint8Array.of(byte))
    bytes.push(byte)
  }
  return undefined
}

/** Of schemas and values without end a sample; more of them by `npm run test:whole`. */
const WHOLE = process.env.TOOLWRIGHT_WHOLE !== undefined

test("a value's text is accepted exactly where a validator finds the value valid", () => {
  let judged = 0
  let exact = 0
  fc.assert(
    fc.property(randomSchema, fc.array(randomValue, { minLength: 12, maxLength: 12 }), (schema, values) => {
      const compiled = compileSchema(schema)
      judged++
      if (compiled.grammar === undefined) return
      exact++
      const matcher = createMatcher(compiled.grammar)
      const validate = ajv.compile(schema)
      for (const value of values)
        expect([value, accepts(matcher, JSON.stringify(value))]).toEqual([value, validate(value)])
    }),
    { numRuns: WHOLE ? 500 : 200, seed: 5 },
  )
  expect(exact / judged).toBeGreaterThan(0.9)
})

test("whatever the matcher lets through byte by byte is valid, and no way leads into a dead end", () => {
  const random = createRandom(3)
  fc.assert(
    fc.property(randomSchema, (schema) => {
      const compiled = compileSchema(schema, { notation: modelJsonNotation })
      if (compiled.grammar === undefined) return
      const matcher = createMatcher(compiled.grammar)
      if (matcher.machine.bytes(matcher.state).length === 0) return
      const validate = ajv.compile(schema)
      for (let count = 0; count < 6; count++) {
        const text = draw(matcher, random)
        // Validators count in doubles, which do not hold numbers of so many digits.
        if (text === undefined || /\d{15}/.test(text)) continue
        // A key that is no declared name may be written twice; validators see the last one only.
        expect([text, validate(JSON.parse(text))]).toEqual([text, true])
      }
    }),
    { numRuns: WHOLE ? 250 : 100, seed: 9 },
  )
})

test("plain rules for llama.cpp have no text that the schema does not have", () => {
  const random = createRandom(4)
  fc.assert(
    fc.property(randomSchema, (schema) => {
      const compiled = compileSchema(schema, { notation: modelJsonNotation })
      if (compiled.grammar === undefined) return
      const matcher = createMatcher(compiled.grammar)
      if (matcher.machine.bytes(matcher.state).length === 0) return
      let plain: Matcher
      try {
        plain = createMatcher(lowerGrammar(compiled.grammar))
      } catch (problem) {
        expect(problem).toMatchObject({ code: "GRAMMAR_REFUSED" })
        return
      }
      for (let count = 0; count < 3; count++) {
        const text = draw(plain, random)
        if (text !== undefined) expect([text, accepts(matcher, text)]).toEqual([text, true])
      }
    }),
    { numRuns: WHOLE ? 120 : 50, seed: 2 },
  )
})

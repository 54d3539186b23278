import { expect, test } from "vitest"
import { matchesGbnf } from "../gbnf/matcher.ts"
import { schemaToGBNF } from "../gbnf/schema-to-gbnf.ts"

test("a large class of characters is written once, however many states its pattern has", () => {
  const gbnf = schemaToGBNF({ type: "string", pattern: "\\p{L}", maxLength: 500 })
  expect(gbnf.length).toBeLessThan(120_000)
  expect(gbnf.match(/-class.*::=/g)).toHaveLength(2)
  const takes = (text: string): boolean => matchesGbnf(gbnf, JSON.stringify(text))
  expect(["a", "1é2", `${"1".repeat(499)}東`].map(takes)).toEqual([true, true, true])
  expect(["", "123", `${"1".repeat(500)}東`].map(takes)).toEqual([false, false, false])
})

test("letters two by two", () => {
  const gbnf = schemaToGBNF({ type: "string", pattern: "^(\\p{L}\\p{L})*$", maxLength: 300 })
  expect(gbnf.length).toBeLessThan(20_000)
  const takes = (text: string): boolean => matchesGbnf(gbnf, JSON.stringify(text))
  expect(["", "aé", "東".repeat(300)].map(takes)).toEqual([true, true, true])
  expect(["a", "a1", "東".repeat(302)].map(takes)).toEqual([false, false, false])
})

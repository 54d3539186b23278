import { expect, test } from "vitest"
import { compileSchema } from "../constraint/schema-grammar.ts"
import { createMatcher } from "./matcher.ts"

test("items that must be unique are compared up to a bound, and an array beyond it is refused instead of matched for ever", () => {
  const { grammar } = compileSchema({ type: "array", uniqueItems: true, items: { type: "integer" } })
  const accepts = (count: number, last: number): boolean => {
    const matcher = createMatcher(grammar!)
    return matcher.accept(JSON.stringify([...Array(count).keys(), last])) && matcher.isComplete()
  }
  expect(accepts(100, 100)).toBe(true)
  expect(accepts(100, 7)).toBe(false)
  expect(accepts(20_000, 20_000)).toBe(false)
})

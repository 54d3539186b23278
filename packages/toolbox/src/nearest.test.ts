import { expect, test } from "vitest"
import { nearest, wildcard } from "./index.ts"
import { editDistance } from "./nearest.ts"

test("finds what a misspelt word meant", () => {
  expect(nearest("modle", ["model", "mode", "agent"])[0]).toBe("model")
  expect(nearest("base_url", ["baseUrl"])).toEqual(["baseUrl"])
  expect(nearest("xyz", ["model"])).toEqual([])
  expect(editDistance("ab", "ba")).toBe(1)
})

test("wildcards match whole texts, and a hostile pattern stays fast", () => {
  expect(wildcard("*.key", "id.key")).toBe(true)
  expect(wildcard("a?c", "abc")).toBe(true)
  expect(wildcard("a", "ab")).toBe(false)
  expect(wildcard("*a*a*a*a*a*a*a*b", "a".repeat(5000))).toBe(false)
})

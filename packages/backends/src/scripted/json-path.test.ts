import { expect, test } from "vitest"
import { isJsonPath, jsonIn, readJsonPath } from "./json-path.ts"

const value = { a: [{ b: 1 }, { "odd key": [true] }], $x: null }

test.each([
  ["$.a[0].b", 1],
  ['a[-1]["odd key"][0]', true],
  ["$", value],
  ["$x", null],
  ["a.length", 2],
  ["a[7].b", undefined],
  ["toString", undefined],
])("%s leads to its value", (path, expected) => {
  expect(readJsonPath(value, path)).toEqual(expected)
})

test("what is no path is told apart", () => {
  expect(isJsonPath("$.a[0]")).toBe(true)
  expect(isJsonPath("a..b")).toBe(false)
  expect(isJsonPath("a[*]")).toBe(false)
})

test("JSON is found inside other text", () => {
  expect(jsonIn('[tool] says <x>{"a":"}{"}</x>')).toEqual({ a: "}{" })
  expect(jsonIn("12")).toBe(12)
  expect(jsonIn("no { json")).toBeUndefined()
})

import { expect, test } from "vitest"
import { jsonText } from "./json-text.ts"

test("what JSON has no form for costs only its own place", () => {
  const loop: Record<string, unknown> = { size: 5n, at: new Date(0), list: [() => 1, 2n] }
  loop.self = loop
  Object.defineProperty(loop, "angry", {
    enumerable: true,
    get: () => {
      throw new Error("no")
    },
  })
  expect(JSON.parse(jsonText(loop))).toEqual({
    size: "5",
    at: "1970-01-01T00:00:00.000Z",
    list: [null, "2"],
    self: "[a cycle]",
    angry: "[cannot be read]",
  })
})

test("nesting has an end, and plain values are as JSON.stringify writes them", () => {
  let deep: unknown = 1
  for (let level = 0; level < 20_000; level++) deep = [deep]
  expect(jsonText(deep)).toContain("nested too deeply")
  expect([jsonText({ a: [1] }, 2), jsonText(undefined)]).toEqual([JSON.stringify({ a: [1] }, null, 2), "null"])
})

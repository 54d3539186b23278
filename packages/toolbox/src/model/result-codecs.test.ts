import fc from "fast-check"
import { expect, test } from "vitest"
import { failure, fromServiceResult, success, toAgentResult, toServiceResult, type ToolResult } from "../index.ts"

const json = fc.jsonValue().filter((value) => value !== null)
const results: fc.Arbitrary<ToolResult> = fc
  .record({
    ok: fc.boolean(),
    output: fc.string(),
    data: fc.option(json, { nil: undefined }),
    modifiedFiles: fc.array(fc.string()),
    executionTimeMs: fc.double({ min: 0.001, max: 1e6, noNaN: true }),
  })
  .map(({ ok, executionTimeMs, data, ...parts }) => {
    const shared = data === undefined ? parts : { ...parts, data }
    return { ...(ok ? success(shared) : failure({ ...shared, code: "X", message: "m", hint: "h" })), executionTimeMs }
  })

test("the service shape loses nothing on the way there and back", () => {
  fc.assert(
    fc.property(results, (result) => {
      expect(fromServiceResult(JSON.parse(JSON.stringify(toServiceResult(result))))).toEqual(
        JSON.parse(JSON.stringify(result)),
      )
    }),
  )
})

test("another service's result is read as it stands", () => {
  const wire = { success: false, result: null, error: "no such file", metadata: {}, execution_time_ms: 3 }
  expect(fromServiceResult(wire)).toMatchObject({
    success: false,
    output: "no such file",
    error: { message: "no such file" },
    executionTimeMs: 3,
  })
})

test("the agent shape has text, error, files and structured data", () => {
  expect(toAgentResult(success({ data: [1], modifiedFiles: ["a"] }))).toEqual({
    success: true,
    output: "[\n  1\n]",
    modified_files: ["a"],
    data: { value: [1] },
  })
  expect(toAgentResult(failure({ code: "X", message: "m" }))).toEqual({ success: false, output: "m", error: "m" })
})

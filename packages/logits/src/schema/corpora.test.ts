import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { hasSharedData, readRecords, type SchemaRecord } from "../fixtures/shared-data.ts"
import { compileSchema } from "../constraint/schema-grammar.ts"
import { createMatcher } from "../matcher/matcher.ts"
import type { Schema } from "./json-schema.ts"

function judge({ schema, tests }: SchemaRecord) {
  const compiled = compileSchema(JSON.parse(schema) as Schema)
  if (compiled.grammar === undefined) return { status: compiled.status, under: [], over: [] }
  const matcher = createMatcher(compiled.grammar)
  const wrong = tests.filter(({ text, valid }) => {
    matcher.reset()
    return (matcher.accept(text) && matcher.isComplete()) !== valid
  })
  return {
    status: compiled.status,
    under: wrong.filter(({ valid }) => !valid),
    over: wrong.filter(({ valid }) => valid),
  }
}

test("the schemas of the repository's sample are exact, and say of each instance whether it is valid", () => {
  const sample = readFileSync(new URL("../../../toolformat/sample/schemas.jsonl", import.meta.url), "utf8")
  const results = sample
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as SchemaRecord)
    .map((record) => ({ ...judge(record), schema: record.schema }))
  expect(results.length).toBeGreaterThan(30)
  expect(results.filter(({ status, under, over }) => status !== "exact" || under.length + over.length > 0)).toEqual([])
})

/** Without the data these tests have nothing to say; it is no part of the project. */
describe.skipIf(!hasSharedData)("schemas from outside", () => {
  test("of 400 real schemas nearly all are exact, none lets an invalid instance through", () => {
    const results = readRecords<SchemaRecord>("json-schema-bench.jsonl").map((record) => ({
      ...judge(record),
      source: record.source,
    }))
    const pass = results.filter(({ status, under, over }) => status === "exact" && under.length + over.length === 0)
    expect(results.filter(({ under }) => under.length > 0)).toEqual([])
    expect(results.filter(({ over }) => over.length > 0).length).toBeLessThanOrEqual(results.length / 100)
    expect(pass.length / results.length).toBeGreaterThan(0.98)
    expect(results.filter(({ status }) => status === "relaxed")).toEqual([])
  })

  test("the official suite has nothing to say against what is called exact", () => {
    const results = readRecords<SchemaRecord>("json-schema-test-suite.jsonl").map((record) => ({
      ...judge(record),
      source: record.source,
    }))
    const share = (status: string): string =>
      `${status} ${((results.filter((one) => one.status === status).length / results.length) * 100).toFixed(1)} %`
    console.log(
      `JSON Schema test suite, 2020-12, ${results.length} groups: ${share("exact")}, ${share("refused")}, ` +
        `${share("relaxed")}`,
    )
    expect(results.filter(({ under, over }) => under.length + over.length > 0)).toEqual([])
    expect(results.filter(({ status }) => status === "exact").length / results.length).toBeGreaterThan(0.75)
  })
})

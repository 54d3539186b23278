import { describe, expect, test } from "vitest"
import { compileType } from "./compile.ts"
import { effortForAll } from "./effort.ts"
import type { JsonSchema } from "./json-schema.ts"

/** Every member of each list with every member of each other one. */
const product = (lists: number, length: number, member: (list: number, at: number) => JsonSchema): JsonSchema => ({
  allOf: Array.from({ length: lists }, (_, list) => ({
    anyOf: Array.from({ length }, (_, at) => member(list, at)),
  })),
})

const letters = (count: number): JsonSchema => ({
  type: "object",
  properties: Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`p${at}`, { type: "string", pattern: `\\p{L}${at}` }]),
  ),
})

/** Each took seconds to minutes before it was refused, or was not refused at all. */
const DEAR: Readonly<Record<string, JsonSchema>> = {
  "keys that are required in every combination": product(8, 7, (list, at) => ({ required: [`a${list}${at}`] })),
  "objects in every combination": product(7, 6, (list, at) => ({
    type: "object",
    properties: { [`a${list}_${at}`]: { const: at } },
    required: [`a${list}_${at}`],
  })),
  "texts in every combination": product(6, 8, (list, at) => ({ type: "string", pattern: `a${list}.*b${at}` })),
  "numbers in every combination": product(8, 40, (list, at) => ({
    type: "number",
    multipleOf: at + 2 + list,
    minimum: at,
  })),
  "thousands of patterns over the letters of Unicode": letters(3000),
  "tens of thousands of names": {
    properties: Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`p${at}`, { type: "string" }])),
    type: "object",
  },
}

describe("a schema that asks for more work than its length tells", () => {
  test.each(Object.entries(DEAR))("is refused by the work, not by its size: %s", (_, schema) => {
    expect(compileType(schema)).toMatchObject({
      status: "refused",
      reasons: [{ reason: "the schema takes too much work" }],
    })
  })

  test("and an ordinary one is exact, also beside it in its own time", () => {
    expect(compileType(product(3, 4, (list, at) => ({ required: [`a${list}${at}`] }))).status).toBe("exact")
    expect(compileType(letters(200)).status).toBe("exact")
  })

  test("schemas that share their effort are refused together once it is used up, and what was made is used on", () => {
    const effort = effortForAll()
    const first = compileType({ type: "string", pattern: "^a+$" }, { effort })
    const statuses = Array.from({ length: 6 }, () => compileType(DEAR["texts in every combination"]!, { effort }))
    expect(statuses.at(-1)!.reasons[0]!.reason).toBe("the schemas of all tools together take too much work")
    expect(compileType({ type: "string" }, { effort }).status).toBe("refused")
    expect(compileType({ type: "string" }).status).toBe("exact")
    expect(first.type!.algebra.intersect(first.type!, first.type!).shape().strings).toHaveLength(1)
  })
})

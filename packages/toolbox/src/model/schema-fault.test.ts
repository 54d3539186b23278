import { describe, expect, test } from "vitest"
import { describeFault, schemaFault } from "./schema-fault.ts"

const fault = (schema: unknown): string | undefined => {
  const found = schemaFault(schema)
  return found === undefined ? undefined : describeFault(found)
}

describe("the form of a schema", () => {
  test.each([
    [{}],
    [{ type: ["object", "null"], properties: { required: { enum: [1] }, type: true }, required: ["type"] }],
    [{ items: [{ type: "string" }], dependencies: { a: ["b"], c: { required: ["d"] } } }],
    [{ const: { properties: 7 }, default: { required: true }, "x-own": [null] }],
    [{ properties: { allOf: { allOf: [{}] } }, $defs: {}, pattern: "(" }],
  ])("%j is one, whether or not it makes sense", (schema) => expect(fault(schema)).toBeUndefined())

  test.each<[unknown, RegExp]>([
    [null, /is no object/],
    [[], /is no object/],
    [{ required: true }, /"\/required" must be a list of names/],
    [{ properties: { a: { properties: { b: 7 } } } }, /"\/properties\/a\/properties" must be an object that holds/],
    [{ anyOf: { type: "string" } }, /"\/anyOf" must be a list of schemas/],
    [{ items: [{ enum: "a" }] }, /"\/items\/0\/enum" must be a list/],
    [{ $ref: 7 }, /must be a text/],
    [{ enum: [{ a: 1n }] }, /bigint/],
    [{ default: () => 1 }, /function/],
  ])("%o is none, and the place is told", (schema, told) => expect(fault(schema)).toMatch(told))

  test("one that contains itself, or is as deep as none can be, is found and not followed", () => {
    const circle: Record<string, unknown> = { type: "object" }
    circle["properties"] = { a: circle }
    expect(fault(circle)).toMatch(/contains itself/)
    let deep: unknown = {}
    for (let level = 0; level < 100_000; level++) deep = { items: deep }
    expect(fault(deep)).toMatch(/nested more than/)
  })
})

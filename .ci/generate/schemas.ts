/** Schemas of our own with instances that are valid and ones that are not; every keyword that is expressed exactly. */

export interface SchemaSample {
  source: string
  schema: string
  tests: { text: string; valid: boolean }[]
}

type Row = readonly [schema: unknown, valid: readonly unknown[], invalid: readonly unknown[]]

const ROWS: readonly Row[] = [
  [{ type: "null" }, [null], [0, "", false]],
  [{ type: "boolean" }, [true, false], [0, "true", null]],
  [{ type: "integer", minimum: -3, maximum: 12 }, [-3, 0, 12], [-4, 13, 1.5, "1"]],
  [{ type: "number", exclusiveMinimum: 0, maximum: 2.5 }, [0.1, 2.5, 1], [0, 2.51, -1]],
  [{ type: "integer", multipleOf: 7 }, [0, 7, -14, 700], [1, 8, 7.5]],
  [{ type: "number", multipleOf: 0.25 }, [0.25, 1, -0.5], [0.3, 0.1]],
  [{ type: "string", minLength: 2, maxLength: 4 }, ["ab", "äöüß", "🐢🐢"], ["a", "abcde", 12]],
  [{ type: "string", pattern: "^[a-z]+(-[a-z]+)*$" }, ["a", "snow-white"], ["", "Snow", "a-", "-a"]],
  [{ type: "string", pattern: "b+c" }, ["bc", "xxbbcx"], ["b", "cb", ""]],
  [{ type: "string", format: "date" }, ["2024-02-29", "1999-12-31"], ["2023-02-29", "2024-13-01", "24-1-1"]],
  [{ type: "string", format: "uuid" }, ["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], ["2eb8aa08-aa98-11ea-b4aa", "x"]],
  [{ type: "string", format: "ipv4" }, ["10.0.0.255"], ["10.0.0.256", "10.0.0"]],
  [{ enum: ["red", 3, null, [1], { a: true }] }, ["red", 3, null, [1], { a: true }], ["Red", 4, [], { a: false }, {}]],
  [{ const: { deep: [1, { x: "y" }] } }, [{ deep: [1, { x: "y" }] }], [{ deep: [1] }, {}, null]],
  [
    { type: "array", items: { type: "integer" }, minItems: 1, maxItems: 3 },
    [[1], [1, 2, 3]],
    [[], [1, 2, 3, 4], ["1"]],
  ],
  [
    { type: "array", prefixItems: [{ type: "string" }, { type: "integer" }], items: false },
    [[], ["a"], ["a", 1]],
    [[1], ["a", 1, 2]],
  ],
  [{ type: "array", items: { enum: ["a", "b", "c"] }, uniqueItems: true }, [[], ["a", "c"]], [["a", "a"]]],
  [{ type: "array", contains: { type: "integer", minimum: 5 } }, [[5], ["x", 9]], [[], [4], ["5"]]],
  [
    {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "string" } },
      required: ["a"],
      additionalProperties: false,
    },
    [{ a: 1 }, { a: 1, b: "x" }],
    [{}, { b: "x" }, { a: "1" }, { a: 1, c: 2 }],
  ],
  [{ type: "object", additionalProperties: { type: "integer" } }, [{}, { x: 1, y: 2 }], [{ x: "1" }]],
  [
    { type: "object", patternProperties: { "^n_": { type: "number" } }, additionalProperties: false },
    [{}, { n_a: 1.5 }],
    [{ n_a: "1" }, { m: 1 }],
  ],
  [{ type: "object", propertyNames: { pattern: "^[a-c]$" } }, [{}, { a: 1, c: null }], [{ d: 1 }]],
  [{ type: "object", minProperties: 1, maxProperties: 2 }, [{ a: 1 }, { a: 1, b: 2 }], [{}, { a: 1, b: 2, c: 3 }]],
  [
    { type: "object", dependentRequired: { card: ["owner"] } },
    [{}, { owner: 1 }, { card: 1, owner: 2 }],
    [{ card: 1 }],
  ],
  [{ anyOf: [{ type: "integer" }, { type: "string", maxLength: 1 }] }, [5, "a", ""], ["ab", null, 1.5]],
  [
    {
      oneOf: [
        { multipleOf: 2, type: "integer" },
        { multipleOf: 3, type: "integer" },
      ],
    },
    [2, 3, 9],
    [6, 1, 0],
  ],
  [{ allOf: [{ type: "integer", minimum: 2 }, { maximum: 4 }] }, [2, 3, 4], [1, 5]],
  [{ type: "integer", not: { minimum: 3, maximum: 5 } }, [2, 6], [3, 4, 5]],
  [
    // From text: an object literal with the key "then" looks like a promise to the linter.
    JSON.parse(`{"type": "object", "properties": {"kind": {"enum": ["cash", "card"]}, "code": {"type": "string"}},
      "required": ["kind"], "if": {"properties": {"kind": {"const": "card"}}}, "then": {"required": ["code"]}}`),
    [{ kind: "cash" }, { kind: "card", code: "1" }],
    [{ kind: "card" }, {}],
  ],
  [
    {
      $defs: {
        branch: {
          type: "object",
          properties: { leaves: { type: "integer" }, arms: { type: "array", items: { $ref: "#/$defs/branch" } } },
          required: ["leaves"],
        },
      },
      $ref: "#/$defs/branch",
    },
    [{ leaves: 1 }, { leaves: 1, arms: [{ leaves: 2, arms: [] }] }],
    [{ arms: [] }, { leaves: 1, arms: [{ arms: [] }] }],
  ],
  [{ type: ["string", "null"] }, ["x", null], [1, [], {}]],
]

export function schemas(): SchemaSample[] {
  return ROWS.map(([schema, valid, invalid], index) => ({
    source: `own_${index}`,
    schema: JSON.stringify(schema),
    tests: [
      ...valid.map((value) => ({ text: JSON.stringify(value), valid: true })),
      ...invalid.map((value) => ({ text: JSON.stringify(value), valid: false })),
    ],
  }))
}

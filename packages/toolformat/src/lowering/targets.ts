/** Who a schema is lowered for. `generic` is any server that takes JSON Schema as it is. */
export type LoweringTarget =
  | "openai-strict"
  | "anthropic"
  | "anthropic-output"
  | "gemini"
  | "llama.cpp-gbnf"
  | "generic"

/** What a target can express. */
export interface TargetProfile {
  /** Assertions that it enforces; others are lost. `everything` leaves a schema as it is but for its root. */
  keywords: ReadonlySet<string> | "everything"
  annotations: ReadonlySet<string>
  formats: ReadonlySet<string>
  /** Whether `$ref` to `$defs` is understood; otherwise references are written out. */
  references: boolean
  /** How `null` is allowed: by a type, or by `nullable: true`. */
  nulls: "type" | "nullable"
  /** Every property must be required and no others allowed; optional ones are made nullable. */
  closed: boolean
  /** Only strings may be enumerated. */
  stringEnums: boolean
  /** Whether the root may be a union. */
  unionRoot: boolean
  /** Whether a schema without a type, for any value, is allowed. */
  anyValue: boolean
}

const STRUCTURE = ["type", "properties", "required", "additionalProperties", "items", "anyOf", "enum", "const"]
const NUMBERS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
const NOTHING: ReadonlySet<string> = new Set()

/**
 * What each target can express, from their documentation as of November 2026: OpenAI's list for structured outputs,
 * Anthropic's rules for `input_schema` and for the form of outputs, Gemini's `Schema` object (a subset of OpenAPI 3.0),
 * and llama.cpp's own list of what its converter to GBNF supports.
 */
export const TARGETS: Readonly<Record<LoweringTarget, TargetProfile>> = {
  "openai-strict": {
    keywords: new Set([...STRUCTURE, ...NUMBERS, "pattern", "format", "minItems", "maxItems"]),
    annotations: new Set(["description", "title"]),
    formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"]),
    references: true,
    nulls: "type",
    closed: true,
    stringEnums: false,
    unionRoot: false,
    anyValue: false,
  },
  anthropic: {
    keywords: "everything",
    annotations: NOTHING,
    formats: NOTHING,
    references: true,
    nulls: "type",
    closed: false,
    stringEnums: false,
    unionRoot: false,
    anyValue: true,
  },
  "anthropic-output": {
    keywords: new Set([...STRUCTURE, "format"]),
    annotations: new Set(["description", "title"]),
    formats: new Set(["date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"]),
    references: true,
    nulls: "type",
    closed: true,
    stringEnums: false,
    unionRoot: false,
    anyValue: false,
  },
  gemini: {
    keywords: new Set([
      "type",
      "properties",
      "required",
      "items",
      "anyOf",
      "enum",
      "minItems",
      "maxItems",
      "minLength",
      "maxLength",
      "pattern",
      "minimum",
      "maximum",
      "minProperties",
      "maxProperties",
      "format",
    ]),
    annotations: new Set(["description", "title", "default", "example"]),
    formats: new Set(["date-time", "enum", "int32", "int64", "float", "double"]),
    references: false,
    nulls: "nullable",
    closed: false,
    stringEnums: true,
    unionRoot: false,
    anyValue: false,
  },
  "llama.cpp-gbnf": {
    keywords: new Set([
      ...STRUCTURE,
      "prefixItems",
      "minItems",
      "maxItems",
      "minLength",
      "maxLength",
      "pattern",
      "format",
      "minimum",
      "maximum",
      "exclusiveMinimum",
      "exclusiveMaximum",
    ]),
    annotations: new Set(["description", "title"]),
    formats: new Set(["date", "time", "date-time", "uuid"]),
    references: true,
    nulls: "type",
    closed: false,
    stringEnums: false,
    unionRoot: true,
    anyValue: true,
  },
  generic: {
    keywords: "everything",
    annotations: NOTHING,
    formats: NOTHING,
    references: true,
    nulls: "type",
    closed: false,
    stringEnums: false,
    unionRoot: true,
    anyValue: true,
  },
}

/** Keywords that say something about a schema without restricting it. */
export const ANNOTATIONS: ReadonlySet<string> = new Set([
  "description",
  "title",
  "default",
  "example",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentMediaType",
  "contentEncoding",
  "contentSchema",
])

/**
 * Keywords that name or hold schemas and are gone once references are resolved, and what is meant for authors alone.
 */
export const BOOKKEEPING: ReadonlySet<string> = new Set([
  "$schema",
  "$id",
  "$defs",
  "definitions",
  "$anchor",
  "$dynamicAnchor",
  "$vocabulary",
  "$comment",
  "id",
])

/** Which types an assertion speaks about; those that are not here speak about all. */
export const TYPES_OF_KEYWORD: Readonly<Record<string, readonly string[]>> = {
  properties: ["object"],
  required: ["object"],
  additionalProperties: ["object"],
  patternProperties: ["object"],
  propertyNames: ["object"],
  minProperties: ["object"],
  maxProperties: ["object"],
  dependentRequired: ["object"],
  dependentSchemas: ["object"],
  dependencies: ["object"],
  unevaluatedProperties: ["object"],
  items: ["array"],
  prefixItems: ["array"],
  additionalItems: ["array"],
  minItems: ["array"],
  maxItems: ["array"],
  uniqueItems: ["array"],
  contains: ["array"],
  minContains: ["array"],
  maxContains: ["array"],
  unevaluatedItems: ["array"],
  minLength: ["string"],
  maxLength: ["string"],
  pattern: ["string"],
  format: ["string"],
  minimum: ["number", "integer"],
  maximum: ["number", "integer"],
  exclusiveMinimum: ["number", "integer"],
  exclusiveMaximum: ["number", "integer"],
  multipleOf: ["number", "integer"],
}

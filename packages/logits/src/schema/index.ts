export { type CompiledType, compileType } from "./compile.ts"
export type { SchemaDialect, JsonSchema, Schema } from "./json-schema.ts"
export type { NormaliseOptions, Reason } from "./normalise.ts"
export type { ValueType } from "./types.ts"

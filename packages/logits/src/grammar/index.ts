export * from "./notation.ts"
export * from "./rules.ts"
export * from "./schema-grammar.ts"
export * from "./tool-call-schema.ts"

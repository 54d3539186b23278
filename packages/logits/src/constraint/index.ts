export * from "./schema-grammar.ts"
export * from "./tool-calls.ts"

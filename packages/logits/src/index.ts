export * from "./gbnf/index.ts"

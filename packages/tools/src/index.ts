export { createBuiltinTools, type BuiltinToolsConfig } from "./builtin.ts"
export * from "./paths/index.ts"
export * from "./logit/index.ts"

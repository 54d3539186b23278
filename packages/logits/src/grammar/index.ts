export * from "./notation.ts"
export * from "./rules.ts"
export { type CallKeys, multiToolCallSchema, toolCallSchema, type ToolSignature } from "./tool-call-schema.ts"

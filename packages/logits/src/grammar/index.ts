export {
  JSON_ARRAY,
  modelJsonNotation,
  pythonNotation,
  type StringStyle,
  type ObjectStyle,
  type ArrayStyle,
  type Notation,
} from "./notation.ts"
export * from "./rules.ts"
export { type CallKeys, multiToolCallSchema, toolCallSchema, type ToolSignature } from "./tool-call-schema.ts"

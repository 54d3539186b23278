export * from "./artifacts.ts"
export * from "./cache/cache.ts"
export * from "./cache/canonical.ts"
export * from "./capabilities.ts"
export {
  defineTool,
  wrapMinimalTool,
  type ToolSpecification,
  type TypedSpecification,
  type TextSpecification,
  type DataOf,
  type MinimalTool,
} from "./define.ts"
export * from "./discovery.ts"
export * from "./execute/call-gate.ts"
export { CallLimits } from "./execute/call-limits.ts"
export * from "./execute/effects.ts"
export {
  DEFAULT_TIMEOUT_MS,
  executeCall,
  NOT_RUN,
  type CheckedCall,
  type Middleware,
  type ExecuteOptions,
} from "./execute/execute.ts"
export * from "./execute/permission.ts"
export * from "./execute/turns.ts"
export * from "./execute/wildcard.ts"
export { Latest, memory } from "./memory/memory.ts"
export { GENERAL_SET, setsOf, actionOf, effectsOf, roleOf } from "./model/about.ts"
export { aboutCode, ERROR_AREAS, ERROR_CODES, type ErrorCode, type ErrorCodeEntry } from "./model/data/error-codes.ts"
export * from "./model/errors.ts"
export type { ArgumentsFrom, FromSchema, LiteralSchema } from "./model/from-schema.ts"
export * from "./model/grounded.ts"
export * from "./model/json-parts.ts"
export * from "./model/json-text.ts"
export type * from "./model/evaluation.ts"
export type * from "./model/events.ts"
export type * from "./model/outcome.ts"
export * from "./model/token-trace.ts"
export * from "./model/typed-events.ts"
export type * from "./model/host.ts"
export type * from "./model/sampling.ts"
export * from "./model/result-codecs.ts"
export * from "./model/result.ts"
export type * from "./model/schema.ts"
export { describeFault, schemaFault, type SchemaFault } from "./model/schema-fault.ts"
export { textInputOf, textParameters, TEXT_ARGUMENT, type TextInput, type TextSyntax } from "./model/text-input.ts"
export {
  TOOL_CATEGORIES,
  serializeTool,
  type ToolCategory,
  type Optionality,
  type ToolExample,
  type ToolEffects,
  type ToolAliases,
  type WorkRole,
  type ToolRole,
  type RoleOfCall,
  type ToolProvenance,
  type ToolContext,
  type ToolHandler,
  type InterruptedCall,
  type Reconciled,
  type ToolAction,
  type RuledAs,
  type ToolDefinition,
  type TypedTool,
  type ToolBundle,
  type ToolCall,
} from "./model/tool.ts"
export type * from "./model/work.ts"
export { nearest } from "./nearest.ts"
export * from "./registry/briefly.ts"
export * from "./registry/reading.ts"
export * from "./registry/registry.ts"
export * from "./registry/split-actions.ts"
export type { Toolset } from "./registry/toolset.ts"
export * from "./registry/view.ts"
export * from "./source/plain.ts"
export * from "./source/redirects.ts"
export * from "./trace-context.ts"
export * from "./source/size.ts"
export * from "./source/source.ts"
export * from "./source/told.ts"
export * from "./standard-schema.ts"
export { UNHOSTED } from "./execute/unhosted.ts"
export { PREDEFINED_BUNDLES } from "./registry/bundles.ts"
export { checkArguments, type Checked } from "./validate/check.ts"
export { validate, inspect, type Findings, type ValidateOptions } from "./validate/compile.ts"
export { explain, type ArgumentIssue, type Explained } from "./validate/explain.ts"
export * from "./validate/flatten.ts"
export { sampleCall } from "./validate/sample.ts"

export type { ToolCallState } from "./envelope.ts"
export { createGrammarFilter, type GrammarFilter } from "./grammar-filter.ts"
export { createFilterChain, type FilterChain, type LogitFilter } from "./logit-filter.ts"
export { createToolCallFilter, type ToolCallFilter, type ToolCallFilterOptions } from "./tool-call-filter.ts"

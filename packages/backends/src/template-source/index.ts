export type { GgufHeader } from "./gguf-header.ts"
export { readTemplate, type FoundTemplate } from "./read-template.ts"

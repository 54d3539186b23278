export { openLlamaBackend, renderChatMl, type LlamaBackend, type LlamaBackendOptions } from "./backend.ts"
export { openLlama, type Generated, type GenerateOptions, type LlamaEngine, type LlamaEngineOptions } from "./engine.ts"
export { generateMasked, type MaskedOptions, type MaskedResult, type TokenConstraint } from "./masked.ts"
export type { LlamaVocabulary } from "./vocabulary.ts"

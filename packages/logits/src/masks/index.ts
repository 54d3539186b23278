export { allowedTokens, applyMask, isAllowed } from "./apply.ts"
export { createMaskEngine, type MaskEngine, type TokenMatcher } from "./engine.ts"
export { createTokenizer, readVocabulary, type Tokenizer, type Vocabulary } from "./tokenizer.ts"
export { warmTokenizer } from "./warm.ts"

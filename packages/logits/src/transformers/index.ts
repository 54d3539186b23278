export { byteLevelAlphabet, byteLevelBytes } from "./byte-level.ts"
export { vocabularyFromTokenizerJson, type TokenizerJson } from "./tokenizer-json.ts"
export { createLogitsProcessor, type GrammarLogitsProcessor, type LogitsTensor } from "./logits-processor.ts"

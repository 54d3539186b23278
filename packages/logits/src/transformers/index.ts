export { byteLevelAlphabet, byteLevelBytes } from "./byte-level.ts"
export { vocabularyFromTokenizerJson, type TokenizerJson } from "./tokenizer-json.ts"
export {
  createLogitsProcessor,
  type GrammarLogitsProcessor,
  type LogitsTensor,
  type MaskSource,
} from "./logits-processor.ts"

export type * from "./model/formatter.ts"
export type * from "./model/message.ts"
export { ABOUT } from "./model/message.ts"
export * from "./api/index.ts"
export { formatterOf, type ApiFormatter } from "./formatter.ts"
export {
  formatterById,
  getFormatter,
  listFormats,
  selectFormat,
  type Selection,
  type SelectOptions,
} from "./selector/index.ts"
export { toolsFromJson } from "./tools-from-json.ts"
export { marksOf } from "./engine/marks-of.ts"
export { cutText } from "./cuttings.ts"
export { grammarFor, type FormatGrammarOptions, type RefusedSchema } from "./grammar.ts"
export { grammarText, structuralTagFor, type GrammarText } from "./grammar-text.ts"
export type { StructuralTagOf } from "./engine/grammar/structural-tag.ts"
export { collectReply } from "./engine/parser.ts"
export { createParser, type AccountingParser } from "./engine/parser.ts"
export type {
  CallSyntax,
  Format,
  IdPolicy,
  PromptStyle,
  ReasoningSyntax,
  ResultStyle,
  Wrapper,
} from "./engine/syntax.ts"
export * from "./templates/index.ts"
export * from "./inference/index.ts"
export * from "./lowering/index.ts"

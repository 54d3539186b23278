export { embedText } from "./embed.ts"
export { asCustomFormat, grammar, textGrammar } from "./grammar.ts"

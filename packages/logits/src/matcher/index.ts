export { GrammarError } from "./grammar-error.ts"
export { createMatcher, type Matcher } from "./matcher.ts"

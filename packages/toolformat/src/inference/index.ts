export { selectByTemplate, type TemplateSelection } from "./choose.ts"
export { inferFormat, type Certainty, type FormatInference } from "./infer.ts"
export type { Judgement } from "./judge.ts"
export type { TemplateSettings } from "./renderings.ts"

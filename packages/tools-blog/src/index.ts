export { blogKit, type BlogToolsConfig } from "./kit.ts"
export type { TextGenerator } from "./phases/index.ts"

export { createBuiltinTools, type BuiltinToolsConfig } from "./builtin.ts"
export type { CodingKitConfig } from "./coding-kit.ts"
export type { LogitGenerator, LogitRequest, LogitToolConfig } from "./logit/index.ts"
export { interfaceOf } from "./navigate/interface.ts"

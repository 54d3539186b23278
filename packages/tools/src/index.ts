export { createBuiltinTools, type BuiltinToolsConfig } from "./builtin.ts"
export { codingKit, type CodingKitConfig } from "./coding-kit.ts"
export { createLogitTool, type LogitGenerator, type LogitRequest, type LogitToolConfig } from "./logit/index.ts"
export { interfaceOf } from "./navigate/interface.ts"

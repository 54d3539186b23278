export * from "./export/http.ts"
export {
  mcpServerFactory,
  type McpExportOptions,
  type CallParams,
  type CallConnection,
  type AnswerCall,
} from "./export/server.ts"
export * from "./export/stdio.ts"
export * from "./import/client.ts"
export * from "./import/configuration.ts"
export {
  mcpToDialFormat,
  checkDialTool,
  toToolResult,
  type McpTool,
  type DialTool,
  type McpContent,
  type McpResult,
} from "./import/convert.ts"
export * from "./import/http-client.ts"
export * from "./import/stdio-client.ts"

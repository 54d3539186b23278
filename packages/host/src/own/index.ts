export { createToolHost, hostedTool, type CallHost, type ToolHostConfig } from "./tool-host.ts"

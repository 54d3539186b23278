export { nameTokenBias, toolBias, type BiasedTool, type ToolBiasOptions } from "./tool-bias.ts"

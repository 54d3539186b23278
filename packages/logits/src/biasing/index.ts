export { LEAST_BIAS, tokenBias, toolBias, type BiasedTool, type ToolBiasOptions } from "./tool-bias.ts"

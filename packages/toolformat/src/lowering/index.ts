export { lowerSchema, type Loss, type LoweredSchema } from "./lower.ts"
export { restoreArguments } from "./restore.ts"
export type { LoweringTarget } from "./targets.ts"
export { lowerTools, type LoweredTool, type LoweredTools } from "./tools.ts"

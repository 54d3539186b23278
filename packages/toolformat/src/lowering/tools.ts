import { messageOf, ToolwrightError, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { lowerSchema, type Loss } from "./lower.ts"
import type { LoweringTarget } from "./targets.ts"

/** A tool with its parameters in a target's form. */
export interface LoweredTool {
  tool: ToolDefinition
  schema: JsonSchema
  losses: Loss[]
}

/** Tools for a target, and those that cannot be offered to it. */
export interface LoweredTools {
  tools: LoweredTool[]
  quarantined: { tool: ToolDefinition; code: string; reason: string }[]
}

/**
 * Lowers the parameters of all tools. One tool's bad schema never takes the others with it: it is set aside with the
 * reason.
 * Never throws.
 */
export function lowerTools(tools: readonly ToolDefinition[], target: LoweringTarget): LoweredTools {
  const result: LoweredTools = { tools: [], quarantined: [] }
  for (const tool of tools) {
    try {
      result.tools.push({ tool, ...lowerSchema(tool.parameters, target) })
    } catch (thrown) {
      const code = ToolwrightError.isInstance(thrown) ? thrown.code : "INVALID_SCHEMA"
      result.quarantined.push({ tool, code, reason: messageOf(thrown) })
    }
  }
  return result
}

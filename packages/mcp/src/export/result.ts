import { failure, sizeOf, type ToolDefinition, type ToolResult } from "@toolwright/toolbox"
import type { McpContent } from "../import/convert.ts"

/**
 * A result as MCP answers it: what came from an imported server goes out as it came in; otherwise the text, and the
 * data as structured content where the tool declares them to be an object, or where another server sent them so.
 */
export function toMcpResult(tool: ToolDefinition | undefined, result: ToolResult): Record<string, unknown> {
  const kept = result.metadata.mcpContent as McpContent[] | undefined
  const declared = tool?.outputSchema?.type === "object" || tool?.provenance?.kind === "mcp"
  const structured = declared && isObject(result.data) ? { structuredContent: result.data } : {}
  return {
    content: kept ?? [{ type: "text", text: result.output }],
    ...(result.success ? structured : { isError: true }),
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** A result that is too large to be sent is a failure that says so. */
export function within(result: ToolResult, most: number): ToolResult {
  const size = sizeOf([result.output, result.data, result.metadata], most)
  if (size <= most) return result
  const refused = failure({
    code: "RESULT_TOO_LARGE",
    message: `The result has more than ${most} characters, which is more than is sent.`,
    hint: "Ask for less at once.",
  })
  return { ...refused, executionTimeMs: result.executionTimeMs }
}

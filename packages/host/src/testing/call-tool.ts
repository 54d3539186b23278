import {
  ToolRegistry,
  validate,
  type ExecuteOptions,
  type JsonObject,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"

/**
 * Calls a tool as a model's call would be: through the whole execute pipeline. A success whose data does not fit the
 * tool's output schema is an error of the test.
 */
export async function callTool(
  tool: ToolDefinition,
  args: JsonObject,
  options: ExecuteOptions = {},
): Promise<ToolResult> {
  const registry = new ToolRegistry()
  registry.register(tool)
  const result = await registry.execute(tool.name, args, options)
  if (result.success && tool.outputSchema !== undefined) {
    const errors = await validate(tool.outputSchema, result.data)
    if (errors.length > 0) {
      const found = errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join("; ")
      throw new Error(
        `The data of ${tool.name} does not fit its output schema: ${found}\n${JSON.stringify(result.data)}`,
      )
    }
  }
  return result
}

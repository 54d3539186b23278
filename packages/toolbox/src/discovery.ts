import type { JsonSchema } from "./model/schema.ts"
import type { Optionality, ToolCategory, ToolDefinition } from "./model/tool.ts"

/** One entry of a `tools/list` style answer. */
export interface ToolListing {
  name: string
  description: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  category: ToolCategory
  optionality: Optionality
}

/** What discovery shows of tools: names, descriptions and the schemas of their parameters. */
export function listTools(tools: readonly ToolDefinition[]): ToolListing[] {
  return tools.map(({ name, description, parameters: schema, outputSchema, category, optionality }) => ({
    name,
    description,
    inputSchema: schema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    category,
    optionality,
  }))
}

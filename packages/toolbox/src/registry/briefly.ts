import { memory } from "../memory/memory.ts"
import type { ToolDefinition } from "../model/tool.ts"

/** The tool as a short declaration has it: without the optional arguments that are seldom needed. The same object every time. */
export function briefly(tool: ToolDefinition): ToolDefinition {
  return tool.brief === undefined ? tool : shortened(tool)
}

const shortened = memory.derived((tool: ToolDefinition): ToolDefinition => {
  const { properties = {}, required = [] } = tool.parameters
  const kept = new Set([...required, ...tool.brief!])
  return {
    ...tool,
    parameters: {
      ...tool.parameters,
      properties: Object.fromEntries(Object.entries(properties).filter(([name]) => kept.has(name))),
    },
  }
})

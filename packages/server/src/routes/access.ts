import type { ToolDefinition, Toolset } from "@toolwright/toolbox"
import { tagsOf, type AccessToken } from "../options.ts"

/**
 * The tools that a token opens, as a toolset of their own, so that what it does not open does not exist for its holder.
 */
export function toolsFor(tools: Toolset, access: AccessToken | undefined): Toolset {
  if (access?.tags === undefined) return tools
  const allowed = new Set(access.tags)
  const opens = (tool: ToolDefinition): boolean =>
    allowed.has(tool.category) || tagsOf(tool).some((tag) => allowed.has(tag))
  return {
    get version() {
      return tools.version
    },
    list: () => tools.list().filter(opens),
    get: (name) => {
      const tool = tools.get(name)
      return tool !== undefined && opens(tool) ? tool : undefined
    },
    withdrawn: (name) => tools.withdrawn(name),
  }
}

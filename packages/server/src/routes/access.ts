import { splitActions, type ToolDefinition, type Toolset } from "@toolwright/toolbox"
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
    // Nobody knows whether this token would open what is not there.
    withdrawn: () => undefined,
  }
}

/**
 * The same tools, where a call may also name one action of a tool as a tool of its own (`search_grep`), as it may at
 * the command line. What is listed stays the tools.
 */
export function withActions(tools: Toolset): Toolset {
  const actionOf = (name: string): ToolDefinition | undefined => {
    for (const tool of tools.list()) {
      const action = tool.actions === undefined ? undefined : splitActions(tool).find((each) => each.name === name)
      if (action !== undefined) return action
    }
    return undefined
  }
  return {
    get version() {
      return tools.version
    },
    list: () => tools.list(),
    get: (name) => tools.get(name) ?? actionOf(name),
    withdrawn: (name) => tools.withdrawn(name),
    keptBack: (name) => tools.keptBack?.(name),
  }
}

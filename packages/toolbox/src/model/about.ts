import type { JsonObject } from "./schema.ts"
import type { RoleOfCall, ToolAction, ToolDefinition, ToolEffects } from "./tool.ts"

/** The set of tools that name none. */
export const GENERAL_SET = "general"

/** The sets that a tool belongs to. */
export function setsOf(tool: ToolDefinition): readonly string[] {
  return tool.sets ?? [GENERAL_SET]
}

/** The action that a call of a multi-action tool selects. */
export function actionOf(tool: ToolDefinition, args: JsonObject): ToolAction | undefined {
  const { actions } = tool
  return actions?.list.find(({ action }) => action === args[actions.argument])
}

/** What a call does to the world: what its action says, or else its tool. */
export function effectsOf(tool: ToolDefinition, args: JsonObject): ToolEffects | undefined {
  return actionOf(tool, args)?.effects ?? tool.effects
}

/** What a call does for work that is handed in; nothing for a tool that does not run in this process. */
export function roleOf(tool: ToolDefinition, args: JsonObject): RoleOfCall | undefined {
  if (tool.provenance !== undefined && tool.provenance.kind !== "local") return undefined
  const role = actionOf(tool, args)?.role ?? tool.role
  if (role === undefined) return undefined
  return typeof role === "function" ? role(args) : { role }
}

/** Whether a careful application asks a person before this call runs. */
export function asksFirst(tool: ToolDefinition, args: JsonObject): boolean {
  return actionOf(tool, args)?.asks ?? tool.asks ?? false
}

/** A tool that can do what an error names as the next step, and the action that does it where it has several. */
export function toolThatDoes(
  tools: readonly ToolDefinition[],
  what: string,
): { tool: ToolDefinition; action?: string } | undefined {
  for (const tool of tools) {
    if (tool.actions === undefined && tool.does?.includes(what)) return { tool }
    const action = tool.actions?.list.find(({ does }) => does?.includes(what))
    if (action !== undefined) return { tool, action: action.action }
  }
  return undefined
}

import type { ToolDefinition } from "@toolwright/toolbox"
import type { CompletionCriteria } from "./criteria.ts"

/**
 * What criteria ask for that none of the tools on offer can do, in words: an agent without it could work for all its
 * rounds and never be done.
 *
 * @param away tools that would be on offer if they could run here: what they do, a command line cannot do either
 */
export function lacking(
  criteria: CompletionCriteria,
  tools: readonly ToolDefinition[],
  away: readonly ToolDefinition[],
): string[] {
  const { requireValidation, requireCommit, requireChange, requireFiles, requiredTools = [] } = criteria
  const names = new Set(tools.map(({ name }) => name))
  return [
    ...((requireChange === true || requireFiles !== undefined) && !tools.some(mayChange) ? ["to change files"] : []),
    ...(requireValidation === true && !tools.some(says("validates")) ? ["to check its work"] : []),
    ...(requireCommit === true && !canCommit(tools, away) ? ["to commit"] : []),
    ...requiredTools.flatMap((name) => (names.has(name) ? [] : [`named '${name}'`])),
  ]
}

/** A tool whose role depends on the call, such as a command line, may commit where the program for it is there. */
function canCommit(tools: readonly ToolDefinition[], away: readonly ToolDefinition[]): boolean {
  if (tools.some(says("commits"))) return true
  return !away.some(says("commits")) && tools.some((tool) => rolesOf(tool).some((role) => typeof role === "function"))
}

function says(role: string): (tool: ToolDefinition) => boolean {
  return (tool) => rolesOf(tool).includes(role as ToolDefinition["role"])
}

function rolesOf({ role, actions }: ToolDefinition): ToolDefinition["role"][] {
  return [role, ...(actions?.list ?? []).map((action) => action.role)]
}

function mayChange({ effects, actions }: ToolDefinition): boolean {
  return [effects, ...(actions?.list ?? []).map((action) => action.effects ?? effects)].some(
    (each) => each?.readOnly !== true,
  )
}

import type { Repair } from "../model/events.ts"
import { failure, type ToolFailure } from "../model/result.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import type { Toolset } from "../registry/toolset.ts"
import { actionBranches } from "../validate/branch.ts"
import { sampleCallText } from "../validate/sample.ts"
import { shortName } from "../validate/shown.ts"

/** Names that are listed for a model that asked for a tool which is not there. */
const MOST_NAMES = 20

/**
 * A tool found, perhaps under another spelling of its name; or the result that answers a call of a tool that is not
 * there.
 */
export type Resolved = { tool: ToolDefinition; repairs: Repair[] } | { refused: ToolFailure }

export function resolveTool(tools: Toolset, name: string): Resolved {
  const tool = tools.get(name)
  if (tool !== undefined) {
    return { tool, repairs: tool.name === name ? [] : [{ path: "", kind: "tool-alias", from: name, to: tool.name }] }
  }
  const withdrawn = tools.withdrawn(name)
  if (withdrawn !== undefined) {
    return { refused: failure({ code: "TOOL_WITHDRAWN", message: withdrawn, hint: offer(tools.list()) }) }
  }
  const list = tools.list()
  const message = `There is no tool '${shortName(name)}'.`
  return { refused: failure({ code: "UNKNOWN_TOOL", message, hint: suggestion(list, name) ?? offer(list) }) }
}

/** An action taken for a tool, or a tool's name nearly right: shown as the call it should have been. */
function suggestion(list: ToolDefinition[], name: string): string | undefined {
  for (const tool of list) {
    const argument = tool.actions?.argument
    if (argument !== undefined && actionBranches(tool).has(name)) {
      return `'${name}' is an action of '${tool.name}'. Did you mean ${sampleCallText(tool, { [argument]: name })}?`
    }
  }
  const close = nearest(
    name,
    list.map((tool) => tool.name),
  )[0]
  const tool = list.find((candidate) => candidate.name === close)
  return tool === undefined ? undefined : `Did you mean ${sampleCallText(tool)}?`
}

function offer(list: ToolDefinition[]): string {
  if (list.length === 0) return "No tools are available."
  const names = list.slice(0, MOST_NAMES).map((tool) => tool.name)
  const more = list.length - names.length
  return `Available tools: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}.`
}

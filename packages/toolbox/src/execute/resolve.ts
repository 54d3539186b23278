import type { Repair } from "../model/events.ts"
import { failure, type ToolFailure } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import type { Toolset } from "../registry/toolset.ts"
import { actionBranches } from "../validate/branch.ts"
import { renameArguments } from "../validate/repair.ts"
import { sampleCallText } from "../validate/sample.ts"
import { shortName } from "../validate/shown.ts"

/** Names that are listed for a model that asked for a tool which is not there. */
const MOST_NAMES = 20

/**
 * A tool found, perhaps under another spelling of its name; or the result that answers a call of a tool that is not
 * there.
 */
export type Resolved = { tool: ToolDefinition; repairs: Repair[] } | { refused: ToolFailure }

export function resolveTool(tools: Toolset, call: { name: string; arguments: unknown }): Resolved {
  const { name } = call
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
  return { refused: failure({ code: "UNKNOWN_TOOL", message, hint: suggestion(list, call) ?? offer(list) }) }
}

/**
 * An action taken for a tool, or a tool's name nearly right: shown as the call it should have been, with the arguments
 * that came.
 */
function suggestion(list: ToolDefinition[], call: { name: string; arguments: unknown }): string | undefined {
  const { name } = call
  const meant = (tool: ToolDefinition, choice: JsonObject = {}): string =>
    sampleCallText(tool, { ...renameArguments(tool, objectOf(call.arguments)).args, ...choice })
  for (const tool of list) {
    const argument = tool.actions?.argument
    if (argument !== undefined && actionBranches(tool).has(name)) {
      return `'${name}' is an action of '${tool.name}'. Did you mean ${meant(tool, { [argument]: name })}?`
    }
  }
  const close = nearest(
    name,
    list.map((tool) => tool.name),
  )[0]
  const tool = list.find((candidate) => candidate.name === close)
  return tool === undefined ? undefined : `Did you mean ${meant(tool)}?`
}

function objectOf(given: unknown): JsonObject {
  return typeof given === "object" && given !== null && !Array.isArray(given) ? (given as JsonObject) : {}
}

function offer(list: ToolDefinition[]): string {
  if (list.length === 0) return "No tools are available."
  const names = list.slice(0, MOST_NAMES).map((tool) => tool.name)
  const more = list.length - names.length
  return `Available tools: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}.`
}

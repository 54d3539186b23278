import type { Repair } from "../model/events.ts"
import { failure, type ToolFailure } from "../model/result.ts"
import type { JsonObject } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import { nearest } from "../nearest.ts"
import { splitActions } from "../registry/split-actions.ts"
import type { Toolset } from "../registry/toolset.ts"
import { actionBranches } from "../validate/branch.ts"
import { renameArguments } from "../validate/repair.ts"
import { sampleCallText } from "../validate/sample.ts"
import { shortName } from "../validate/shown.ts"

/** Names that are listed for a model that asked for a tool which is not there. */
const MOST_NAMES = 20
/** The same where some of them are near. */
const FEW_NAMES = 6

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
    const hint = inPlaceOf(tools, call) ?? suggestion(tools.list(), call) ?? offer(tools.list(), call.name)
    return { refused: failure({ code: "TOOL_WITHDRAWN", message: withdrawn, hint }) }
  }
  const list = tools.list()
  const message = `There is no tool '${shortName(name)}'.`
  const hint = [whoIsAway(tools), suggestion(list, call) ?? offer(list, name)].filter(Boolean).join("\n")
  return { refused: failure({ code: "UNKNOWN_TOOL", message, hint }) }
}

/** The tool may be one of a service that does not answer now: then there is no other name for it. */
function whoIsAway(tools: Toolset): string {
  const away = tools.away?.() ?? []
  return away.length === 0 ? "" : `It may be a tool of what is away now: ${away.join("; ")}.`
}

/** A tool on offer that does what one does that is kept back, as both of them say: the call as it should have been. */
function inPlaceOf(tools: Toolset, call: { name: string; arguments: unknown }): string | undefined {
  const kept = tools.keptBack?.(call.name)
  if (kept === undefined) return undefined
  const offered = tools.list().flatMap(singly)
  const [does] = ruledAsOf(kept).flatMap((other) =>
    offered.filter(({ name, ruledAs }) => name === other && ruledAs.includes(kept.name)),
  )
  return does === undefined ? undefined : `Did you mean ${callOf(does.tool, call.arguments, does.choice)}?`
}

interface Single {
  tool: ToolDefinition
  name: string
  choice?: JsonObject
  ruledAs: readonly string[]
}

/** What a tool does, action by action, with what else it is called. */
function singly(tool: ToolDefinition): Single[] {
  const { actions } = tool
  if (actions === undefined) return [{ tool, name: tool.name, ruledAs: ruledAsOf(tool) }]
  return splitActions(tool).map((single, at) => {
    const choice = { [actions.argument]: actions.list[at]!.action }
    return { tool, name: single.name, choice, ruledAs: ruledAsOf(single) }
  })
}

function ruledAsOf(tool: ToolDefinition | undefined): readonly string[] {
  return typeof tool?.ruledAs === "object" ? tool.ruledAs : []
}

function callOf(tool: ToolDefinition, args: unknown, choice: JsonObject = {}): string {
  return sampleCallText(tool, { ...renameArguments(tool, objectOf(args)).args, ...choice })
}

/**
 * An action taken for a tool, or a tool's name nearly right: shown as the call it should have been, with the arguments
 * that came.
 */
function suggestion(list: ToolDefinition[], call: { name: string; arguments: unknown }): string | undefined {
  const { name, arguments: args } = call
  for (const tool of list) {
    const argument = tool.actions?.argument
    if (argument !== undefined && actionBranches(tool).has(name)) {
      return `'${name}' is an action of '${tool.name}'. Did you mean ${callOf(tool, args, { [argument]: name })}?`
    }
  }
  // As it is called where each action is a tool of its own.
  const single = list.flatMap(singly).find((each) => each.name === name)
  if (single !== undefined) return `Did you mean ${callOf(single.tool, args, single.choice)}?`
  const close = nearest(
    name,
    list.map((tool) => tool.name),
  )[0]
  const tool = list.find((candidate) => candidate.name === close)
  return tool === undefined ? undefined : `Did you mean ${callOf(tool, args)}?`
}

function objectOf(given: unknown): JsonObject {
  return typeof given === "object" && given !== null && !Array.isArray(given) ? (given as JsonObject) : {}
}

/** The tools that there are; a few where some have a word of the wrong name, those first. */
function offer(list: ToolDefinition[], wrong: string): string {
  if (list.length === 0) return "No tools are available."
  const words = wordsOf(wrong)
  const shared = ({ name }: ToolDefinition): number => wordsOf(name).filter((word) => words.includes(word)).length
  const ordered = list.toSorted((one, other) => shared(other) - shared(one))
  const most = shared(ordered[0]!) > 0 ? FEW_NAMES : MOST_NAMES
  const names = ordered.slice(0, most).map((tool) => tool.name)
  const more = list.length - names.length
  return `Available tools: ${names.join(", ")}${more > 0 ? `, and ${more} more` : ""}.`
}

function wordsOf(name: string): string[] {
  const parted = name.slice(0, 256).replaceAll(/([a-z])([A-Z])/g, "$1 $2")
  return parted
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 3)
}

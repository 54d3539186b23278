import type { JsonObject, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "../paths/workspace.ts"
import type { RecordedCall } from "./recorder.ts"

/**
 * A tool whose calls are entries of the workspace's history: what they change can be taken back. The result's metadata
 * names the entry (`undo.id`), and its output says what cannot be taken back. Without a history the tool itself.
 */
export function recordedTool(tool: ToolDefinition, workspace: Workspace): ToolDefinition {
  const { history } = workspace
  if (history === undefined) return tool
  return {
    ...tool,
    async handler(args, context) {
      const { callId, runId } = context
      const head = {
        tool: tool.name,
        callId,
        ...(runId === undefined ? {} : { runId }),
        readOnly: isReadOnly(tool, args),
      }
      const { value, recorded } = await (await history()).during(head, async () => tool.handler(args, context))
      return withRecord(value, recorded, workspace)
    },
  }
}

function isReadOnly(tool: ToolDefinition, args: JsonObject): boolean {
  const { actions } = tool
  const action = actions?.list.find(({ action }) => action === args[actions.argument])
  return (action?.effects ?? tool.effects)?.readOnly === true
}

/** Paths of what cannot be taken back that are named in a result. */
const MOST_NAMED = 5

function withRecord(result: ToolResult, { id, unkept }: RecordedCall, workspace: Workspace): ToolResult {
  if (id === undefined && unkept.length === 0) return result
  const named = unkept.map(({ path, reason }) => ({ path: workspace.policy.show(path), reason }))
  const metadata = {
    ...result.metadata,
    undo: { ...(id === undefined ? {} : { id }), ...(named.length === 0 ? {} : { unkept: named }) },
  }
  if (named.length === 0) return { ...result, metadata }
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : ""
  const list = named.slice(0, MOST_NAMED).map(({ path, reason }) => `${path} (${reason})`)
  const note = `[Cannot be taken back by undo: ${list.join("; ")}${more}.]`
  return { ...result, metadata, output: result.output === "" ? note : `${result.output}\n${note}` }
}

import { checkArguments, type ToolCall, type ToolDefinition } from "@toolwright/toolbox"
import type { AnswerNote } from "./answer.ts"

/** A call as it may be told, with what is to be said of it; `wrong` says why it is none that the client can run. */
export interface CheckedCall {
  call: ToolCall
  notes: AnswerNote[]
  wrong?: { code: "unknown-tool" | "invalid-arguments"; message: string }
}

/**
 * Holds a call against the client's tools as the executor holds one against its own: the tool must be on offer, and
 * arguments of another type are put right where only one meaning is possible.
 */
export async function checkCall(given: ToolCall, tools: readonly ToolDefinition[]): Promise<CheckedCall> {
  const tool = toolNamed(given.name, tools)
  if (tool === undefined) {
    const names = tools.map(({ name }) => name).join(", ")
    const message = `There is no tool '${given.name}'. On offer: ${names === "" ? "none" : names}.`
    return { call: given, notes: [], wrong: { code: "unknown-tool", message } }
  }
  const notes: AnswerNote[] = []
  if (tool.name !== given.name)
    notes.push({ code: "renamed-tool", message: `The model wrote '${given.name}'.`, tool: tool.name })
  const checked = await checkArguments(tool, given.arguments)
  const call = { ...given, name: tool.name }
  if ("refused" in checked) {
    const { error, output } = checked.refused
    if (error?.code === "INVALID_ARGUMENTS")
      return { call, notes, wrong: { code: "invalid-arguments", message: output } }
    notes.push({ code: "not-checked", message: output, tool: tool.name })
    return { call, notes }
  }
  if (checked.repairs.length > 0) {
    const fields = checked.repairs.map(({ path, kind }) => `${path === "" ? "all" : path} (${kind})`).join(", ")
    notes.push({ code: "repaired-arguments", message: `Arguments were put right: ${fields}.`, tool: tool.name })
  }
  return { call: { ...call, arguments: checked.args }, notes }
}

/**
 * By its name; by another spelling of it (`Bash` for `bash`, `read-file` for `read_file`) where only one tool can be
 * meant.
 */
function toolNamed(name: string, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const exact = tools.find((tool) => tool.name === name)
  if (exact !== undefined) return exact
  const alike = tools.filter((tool) => plain(tool.name) === plain(name))
  return alike.length === 1 ? alike[0] : undefined
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_.\-\s]/g, "")
}

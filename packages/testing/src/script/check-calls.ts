import { isDeepStrictEqual } from "node:util"
import { ToolwrightError, checkArguments, defineTool, nearest, type ToolDefinition } from "@toolwright/toolbox"
import type { OpenAITool } from "@toolwright/toolformat"
import type { AgentCall } from "../run/agent-run.ts"
import type { WantedCall } from "./reply.ts"

/**
 * Holds a scripted call to the tools that the model was offered, as a real model's call would be.
 *
 * @throws ToolwrightError `SCREENPLAY_WRONG_CALL` for one that is not said to be wrong
 */
export async function checkCalls(
  calls: readonly WantedCall[],
  offered: readonly OpenAITool[],
  label: string,
): Promise<void> {
  for (const { call, arguments: args = {}, wrong } of calls) {
    if (wrong === true || typeof args === "string") continue
    const tool = offered.find((each) => each.function.name === call)
    if (tool === undefined)
      throw wrongCall(`${label}: the tool '${call}' was not offered. ${suggestion(call, offered)}`)
    const checked = await checkArguments(definitionOf(tool), args)
    if ("refused" in checked) throw wrongCall(`${label}: ${checked.refused.output}`)
  }
}

/** A call that was written as text, and by which reply. */
export interface WrittenCall extends WantedCall {
  label: string
}

/** Errors by which the executor refuses a call as such. */
const REFUSALS = new Set(["UNKNOWN_TOOL", "INVALID_ARGUMENTS"])

/**
 * Looks for calls that were written as text, so that there were no tools to hold them to, and that the executor
 * refused.
 *
 * @throws ToolwrightError `SCREENPLAY_WRONG_CALL` for one that is not said to be wrong
 */
export function checkWrittenCalls(written: readonly WrittenCall[], made: readonly AgentCall[]): void {
  for (const { call, arguments: args = {}, wrong, label } of written) {
    if (wrong === true) continue
    const refused = made.find(
      (each) => each.call === call && isDeepStrictEqual(each.arguments, args) && REFUSALS.has(each.error?.code ?? ""),
    )
    if (refused !== undefined) throw wrongCall(`${label}: ${refused.output}`)
  }
}

const definitions = new WeakMap<OpenAITool, ToolDefinition>()

function definitionOf(tool: OpenAITool): ToolDefinition {
  const known = definitions.get(tool)
  if (known !== undefined) return known
  const { name, description, parameters } = tool.function
  const made = defineTool({ name, description, parameters: parameters, execute: () => "" })
  definitions.set(tool, made)
  return made
}

function suggestion(call: string, offered: readonly OpenAITool[]): string {
  const names = offered.map((tool) => tool.function.name)
  const [near] = nearest(call, names)
  return near === undefined ? `There were: ${names.join(", ")}.` : `Did you mean '${near}'?`
}

const wrongCall = (message: string): ToolwrightError =>
  new ToolwrightError(
    "SCREENPLAY_WRONG_CALL",
    `${message}\nIf the model is to make this mistake, say so in its reply: wrong: true`,
  )

import { toolThatDoes } from "../model/about.ts"
import { describeError, type ToolResult } from "../model/result.ts"
import type { Toolset } from "../registry/toolset.ts"
import { sampleCallText } from "../validate/sample.ts"

/**
 * A failure that says what could be done next, with the call of a tool on offer that does it in its hint; where none
 * does, the failure as it is, without the step.
 */
export function withNextStep(tools: Toolset, result: ToolResult): ToolResult {
  if (result.success || result.error.next === undefined) return result
  const { next, ...rest } = result.error
  const found = toolThatDoes(tools.list(), next.does)
  const call = found === undefined ? undefined : callOf(found, next.arguments ?? {})
  const told = call === undefined ? rest : { ...rest, hint: joined(rest.hint, `To ${next.does}, call ${call}.`) }
  const output = result.output === describeError(rest) ? describeError(told) : result.output
  return { ...result, error: told, output }
}

function callOf({ tool, action }: NonNullable<ReturnType<typeof toolThatDoes>>, args: object): string {
  const discriminator = action === undefined ? {} : { [tool.actions!.argument]: action }
  return sampleCallText(tool, { ...discriminator, ...args })
}

const joined = (hint: string | undefined, more: string): string => (hint === undefined ? more : `${hint} ${more}`)

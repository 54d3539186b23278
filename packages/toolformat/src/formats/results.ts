import { textOf, type ToolResult } from "@toolwright/toolbox"
import type { ResultStyle } from "../engine/syntax.ts"

/** A result as text for a model: what it put out, or why it failed. */
export function resultText(result: ToolResult): string {
  if (result.success) return result.output === "" && result.data !== undefined ? textOf(result.data) : result.output
  return `Error: ${result.output === "" ? (result.error?.message ?? "the tool failed") : result.output}`
}

/** The result between two marks. */
export function between(open: string, close: string): ResultStyle {
  return (_call, result) => `${open}${resultText(result)}${close}`
}

/** A sentence that names the tool, for models without a form of their own. */
export const plainResult: ResultStyle = (call, result) =>
  `${result.success ? "Result" : "Failure"} of tool ${call.name}:\n${resultText(result)}\n`

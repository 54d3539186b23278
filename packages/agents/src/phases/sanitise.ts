import { collectReply, createParser, listFormats, marksOf, type Format } from "@toolwright/toolformat"
import type { ToolDefinition } from "@toolwright/toolbox"

/** Said where a call stood. */
const LEFT_OUT = "(a tool call stood here and was left out)"
const MOST_DEEP = 40

/**
 * A value without calls in its texts, whichever family's: whoever reads one as its own history believes that the work
 * was done. A call without marks is one only where a tool of this run is meant; elsewhere it is data that looks like
 * it.
 */
export function withoutCalls(value: unknown, tools: readonly ToolDefinition[], depth = 0): unknown {
  if (typeof value === "string") return textWithoutCalls(value, tools)
  if (typeof value !== "object" || value === null || depth > MOST_DEEP) return value
  if (Array.isArray(value)) return value.map((each) => withoutCalls(each, tools, depth + 1))
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutCalls(each, tools, depth + 1)]))
}

function textWithoutCalls(text: string, tools: readonly ToolDefinition[]): string {
  if (!/[{<[\uFF5C(]/.test(text)) return text
  let left = text
  for (const format of listFormats()) left = withoutCallsOf(format, left, tools)
  return left === text ? text : [left.trim(), LEFT_OUT].filter((part) => part !== "").join("\n")
}

function withoutCallsOf(format: Format, text: string, tools: readonly ToolDefinition[]): string {
  const isMarked = marksOf(format).some((mark) => text.includes(mark))
  const isNamed = (): boolean => tools.some(({ name }) => text.includes(name))
  if (!isMarked && !isNamed()) return text
  try {
    const parser = createParser(format, [], { tools })
    const { calls, content } = collectReply([...parser.push(text), ...parser.end()])
    const meant = calls.filter(({ name }) => isMarked || tools.some((tool) => tool.name === name))
    return meant.length === 0 ? text : content
  } catch {
    // A format of an API alone has no calls in text.
    return text
  }
}

import type { ToolDefinition } from "@toolwright/toolbox"
import { formatterById, type ToolFormatter } from "@toolwright/toolformat"

/**
 * What a model is told whose answer is a call that nobody read as one: where calls are read from a native API alone, a
 * call written as text is no answer. Nothing where the text holds no call of a tool on offer.
 */
export function unreadCalls(
  content: string,
  formatter: ToolFormatter,
  tools: readonly ToolDefinition[],
): string | undefined {
  if (!/[{<[]/.test(content)) return undefined
  const names = new Set([formatter, formatterById("generic")].flatMap((format) => namesIn(format, content, tools)))
  const known = [...names].filter((name) =>
    tools.some((tool) => tool.name === name || tool.aliases?.names?.includes(name) === true),
  )
  if (known.length === 0) return undefined
  return (
    `Your reply is a call of ${known.map((name) => `'${name}'`).join(", ")} written as text, which was not run. ` +
    "Make it through the tool interface, or answer in plain words."
  )
}

function namesIn(formatter: ToolFormatter, content: string, tools: readonly ToolDefinition[]): string[] {
  try {
    const parser = formatter.createParser({ tools })
    return [...parser.push(content), ...parser.end()].flatMap((event) =>
      event.type === "call-end" ? [event.call.name] : [],
    )
  } catch {
    // A format that reads answers of an API alone has no calls in text.
    return []
  }
}

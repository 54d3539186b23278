import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import { codecOf } from "./codecs/index.ts"
import { nextId } from "./ids.ts"
import type { CallSyntax, Format } from "./syntax.ts"

/** Calls as the format's family writes them. */
export function printCalls(format: Format, calls: readonly ToolCall[], tools: readonly ToolDefinition[] = []): string {
  const syntax = format.calls[0]
  if (syntax === undefined || calls.length === 0) return ""
  const codec = codecOf(syntax)
  const printed = calls.map((call, index) =>
    codec.print(
      call,
      syntax,
      tools.find((tool) => tool.name === call.name),
      index,
    ),
  )
  return printBlocks(syntax, printed)
}

function printBlocks(syntax: CallSyntax, printed: readonly string[]): string {
  const { before = "", between = "", after = "" } = syntax.layout ?? {}
  const open = (syntax.wrapper?.open[0] ?? "") + before
  const close = after + closingMark(syntax)
  const blocks = syntax.together === true ? [printed.join(between)] : printed
  return blocks.map((block) => open + block + close).join(syntax.separator ?? "")
}

/** What is printed after the calls of a wrapper. */
export function closingMark({ wrapper }: CallSyntax): string {
  return wrapper === undefined || wrapper.closeOptional === "never printed" ? "" : (wrapper.close[0] ?? "")
}

/** A call of a made-up tool, to show a model what calls look like. */
export function exampleCall(format: Format): string {
  const [syntax] = format.calls
  const isFirst = syntax?.codec === "parameters" && syntax.call.idBefore !== undefined
  const id = isFirst ? nextId(format.ids, undefined, "tool_name", 0) : ""
  return printCalls(format, [{ id, name: "tool_name", arguments: { param: "value" } }])
}

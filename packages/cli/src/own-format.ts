import { resolve } from "node:path"
import type { Selection } from "@toolwright/toolformat"
import { EXIT, type Invocation } from "./command.ts"
import { usageError } from "./options.ts"

/** A format of the user's own, which a module exports. */
export async function ownFormat(cwd: string, file: string): Promise<Selection> {
  const { loadFormat } = await import("@toolwright/runtime")
  const path = resolve(cwd, file)
  return { format: await loadFormat(path), because: `${path} says it.` }
}

const EXAMPLES = [
  { id: "call_0", name: "look_up", arguments: { word: "parrot", times: 2 } },
  { id: "call_1", name: "ping", arguments: {} },
]

/** Shows how a format of one's own lists tools and writes calls, and whether it reads back what it writes. */
export async function tryFormat({ cwd, stdout }: Invocation, file: string | undefined): Promise<number> {
  if (file === undefined) throw usageError("Which file?", "Give one that 'toolwright new format' has made.")
  const { format } = await ownFormat(cwd, file)
  const { formatterOf, toolsFromJson } = await import("@toolwright/toolformat")
  const properties = { word: { type: "string" }, times: { type: "integer" } }
  const tools = toolsFromJson([{ name: "look_up", parameters: { type: "object", properties } }, { name: "ping" }])
  const formatter = formatterOf(format)
  const text = formatter.printCalls(EXAMPLES, tools)
  const { calls, problems } = formatter.parse(text, { tools })
  const back = JSON.stringify(calls.map(argumentsOf)) === JSON.stringify(EXAMPLES.map(argumentsOf))
  stdout.write(`Two calls:\n${text}\n\nThe tools in the prompt:\n${formatter.formatToolsForPrompt(tools).trim()}\n\n`)
  stdout.write(`Read back: ${back ? "the same calls" : JSON.stringify(calls)}\n`)
  for (const { kind, message } of problems) stdout.write(`problem ${kind}: ${message}\n`)
  stdout.write(`Use it: toolwright run "…" --format-file ${file} --model … --base-url …\n`)
  return back && problems.length === 0 ? EXIT.success : EXIT.failure
}

function argumentsOf({ name, arguments: args }: { name: string; arguments: unknown }) {
  return { name, args }
}

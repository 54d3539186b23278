import type { Backend } from "@toolwright/backends"
import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { Asking, openDialogue } from "./ask.ts"
import { systemPrompt } from "./prompt.ts"

/** One generation with tools on offer: calls where the model made any, its text otherwise. */
export type Generation = { type: "tool_calls"; tool_calls: ToolCall[] } | { type: "text"; content: string }

/**
 * Asks a model once, with tools on offer and the choice left to it. Nothing is executed.
 *
 * @throws ToolwrightError what the backend throws when it cannot answer
 */
export async function generateWithTools(
  backend: Backend,
  tools: readonly ToolDefinition[],
  prompt: string,
  options: { signal?: AbortSignal } = {},
): Promise<Generation> {
  const user: ChatMessage = { role: "user", content: prompt }
  const dialogue = openDialogue({ backend, tools, said: [prompt], messages: [user], signal: options.signal })
  const asking = new Asking(dialogue, {
    tools,
    messages: (plan) => {
      const content = systemPrompt({ tools, plan })
      return content === "" ? [user] : [{ role: "system", content }, user]
    },
    said: () => [prompt],
    callsBefore: 0,
    nameCall: (given) => given,
  })
  let step = await asking.next()
  while (!step.done) step = await asking.next()
  const { calls, content } = step.reply
  return calls.length > 0 ? { type: "tool_calls", tool_calls: calls } : { type: "text", content }
}

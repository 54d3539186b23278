import type { Backend } from "@toolwright/backends"
import type { ToolCall, ToolDefinition } from "@toolwright/toolbox"
import { planDelivery } from "./delivery.ts"
import { systemPrompt } from "./prompt.ts"
import { readReply } from "./reply.ts"

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
  const plan = planDelivery({ backend, mode: "hybrid", tools })
  const { delivery, formatter } = plan
  const system = systemPrompt({ systemPrompt: "", tools, formatter, delivery, unavailable: [], signal: undefined })
  const messages = [
    ...(system === "" ? [] : [{ role: "system" as const, content: system }]),
    { role: "user" as const, content: prompt },
  ]
  const stream = backend.infer({ messages, ...plan.requestPart(tools) }, options)
  const events = readReply(
    stream,
    () => formatter.createParser({ tools }),
    delivery,
    (given) => given,
  )
  let step = await events.next()
  while (!step.done) step = await events.next()
  const { calls, content } = step.value
  return calls.length > 0 ? { type: "tool_calls", tool_calls: calls } : { type: "text", content }
}

import type { Backend, FinishReason, InferRequest, Usage } from "./model/backend.ts"

/** A whole inference. `calls` are native ones, their arguments as JSON text. */
export interface Inference {
  text: string
  reasoning: string
  calls: { id?: string; name: string; arguments: string }[]
  finishReason: FinishReason
  usage?: Usage
}

/** A request as two texts, or in full. */
export type SimpleRequest =
  | ({ systemPrompt?: string; userPrompt: string } & Omit<InferRequest, "messages">)
  | InferRequest

/**
 * One inference, waited for to its end, for callers that need no stream.
 *
 * @throws what the backend throws
 * @example
 * const { text } = await infer(backend, { systemPrompt: "Be brief.", userPrompt: "Why is the sky blue?" })
 */
export async function infer(
  backend: Backend,
  request: SimpleRequest,
  options: { signal?: AbortSignal } = {},
): Promise<Inference> {
  const result: Inference = { text: "", reasoning: "", calls: [], finishReason: "unknown" }
  const calls = new Map<number, Inference["calls"][number]>()
  for await (const event of backend.infer(asRequest(request), options)) {
    if (event.type === "text-delta") result.text += event.text
    else if (event.type === "reasoning-delta") result.reasoning += event.text
    else if (event.type === "call-delta") {
      const call = calls.get(event.index) ?? { name: "", arguments: "" }
      calls.set(event.index, call)
      if (event.id !== undefined) call.id = event.id
      call.name += event.name ?? ""
      call.arguments += event.arguments ?? ""
    } else if (event.type === "end") {
      result.finishReason = event.finishReason
      if (event.usage !== undefined) result.usage = event.usage
    }
  }
  result.calls = [...calls.values()]
  return result
}

function asRequest(request: SimpleRequest): InferRequest {
  if ("messages" in request) return request
  const { systemPrompt, userPrompt, ...rest } = request
  const system = systemPrompt === undefined ? [] : [{ role: "system" as const, content: systemPrompt }]
  return { ...rest, messages: [...system, { role: "user", content: userPrompt }] }
}

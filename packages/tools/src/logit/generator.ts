import type { JsonObject, SamplingOptions } from "@toolwright/toolbox"

/**
 * What the tool asks of a model, in the shape of a backend's request. At most one of `grammar` and `jsonSchema` is set.
 */
export interface LogitRequest {
  messages: readonly ({ role: "system"; content: string } | { role: "user"; content: string })[]
  grammar?: string
  jsonSchema?: JsonObject
  sampling?: SamplingOptions
  extraBody?: JsonObject
}

/** The model that the `logit` tool generates with; every backend is one. */
export interface LogitGenerator {
  readonly abilities: { readonly grammar: boolean; readonly jsonSchema: boolean }
  infer(
    request: LogitRequest,
    options?: { signal?: AbortSignal },
  ): AsyncIterable<{ readonly type: string; readonly text?: unknown; readonly finishReason?: unknown }>
  /** What of a request its server has no word for, so that it is not sent. */
  leavesOut?(request: LogitRequest): readonly string[]
}

/** A whole generation. */
export interface Generation {
  readonly text: string
  readonly finishReason: string
}

/** Collects what a generator writes. Reasoning is left out. */
export async function generateText(
  generator: LogitGenerator,
  request: LogitRequest,
  signal: AbortSignal,
): Promise<Generation> {
  let text = ""
  let finishReason = "unknown"
  for await (const event of generator.infer(request, { signal })) {
    if (event.type === "text-delta" && typeof event.text === "string") text += event.text
    else if (event.type === "end" && typeof event.finishReason === "string") finishReason = event.finishReason
  }
  return { text, finishReason }
}

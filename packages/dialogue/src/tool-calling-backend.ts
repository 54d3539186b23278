import { wrapBackend, type Backend, type InferEvent, type InferRequest } from "@toolwright/backends"
import type { ToolFormatter } from "@toolwright/toolformat"
import { createAnswering } from "./answer/answering.ts"
import type { ToolCallingMode } from "./delivery.ts"
import type { GroundingSetting } from "./grounding.ts"

/** Settings of {@link toolCallingBackend}. */
export interface ToolCallingOptions {
  mode?: ToolCallingMode
  /** The format, where it is not to be chosen by the model's name. */
  formatter?: ToolFormatter
  /** Which arguments must come from the conversation where calls are held by a grammar; `auto` unless given. */
  grounding?: GroundingSetting
}

/**
 * Gives any backend native tool use: a request with tools is put to the model as the executor puts one, and its calls,
 * whether they came natively or stood in the text, come back as native ones, each whole and once. What could not be
 * read as a call is text.
 *
 * The calls' ids are unique over requests, so that a client may keep them in one conversation.
 */
export function toolCallingBackend(backend: Backend, options: ToolCallingOptions = {}): Backend {
  const answering = createAnswering(backend, options)

  async function* infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<InferEvent> {
    if ((request.tools ?? []).length === 0) {
      yield* backend.infer(request, signal === undefined ? {} : { signal })
      return
    }
    let index = 0
    for await (const event of answering.answer(request, signal === undefined ? {} : { signal })) {
      if (event.type === "call") {
        const { id, name, arguments: args } = event.call
        yield { type: "call-delta", index: index++, id, name, arguments: JSON.stringify(args) }
      } else if (event.type !== "note" && event.type !== "waiting") yield event
    }
  }

  const abilities = { ...backend.abilities, nativeTools: true }
  return wrapBackend(backend, { abilities, infer })
}

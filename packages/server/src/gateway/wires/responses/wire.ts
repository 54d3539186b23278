import type { JsonObject } from "@toolwright/toolbox"
import { RequestProblem, type Wire } from "../../wire.ts"
import { itemsOf } from "./input.ts"
import { estimatedTokens } from "../estimate.ts"
import { KeptResponses } from "./kept.ts"
import { responsePages } from "./pages.ts"
import { readResponses } from "./read.ts"
import { responseFailure, responseStream, wholeResponse, type ResponseReply } from "./write.ts"

/** OpenAI's Responses, as Codex and the AI SDK speak them. */
export function openAIResponses(): Wire {
  const kept = new KeptResponses()

  /** @throws RequestProblem for an answer that is not kept */
  function before(caller: string, id: unknown): readonly JsonObject[] {
    if (id === undefined || id === null) return []
    const found = kept.get(caller, String(id))
    if (found !== undefined) return found.items
    throw new RequestProblem(
      `The response '${String(id)}' is not kept here (any more): send the conversation in 'input'.`,
      "previous_response_id",
    )
  }

  function itemsAsked(body: JsonObject, caller: string): JsonObject[] {
    const asked = itemsOf(body.input, (id) => kept.item(caller, id))
    return [...before(caller, body.previous_response_id), ...asked]
  }

  return {
    id: "openai-responses",
    paths: ["/v1/responses"],
    read(body, { caller }) {
      const items = itemsAsked(body, caller)
      const about: ResponseReply = {
        ...readResponses(body, items),
        fields: body,
        keep: (response, output) => {
          if (body.store !== false) kept.put(caller, { items: [...items, ...output], asked: items.length, response })
        },
      }
      return {
        request: about.request,
        streamed: (head) => responseStream(head, about),
        whole: (head, reply) => wholeResponse(head, reply, about),
      }
    },
    failure: responseFailure,
    kept: responsePages(kept),
    /** An estimate: the model's server is not asked. */
    others: {
      "/v1/responses/input_tokens": (body, _, caller) => ({
        object: "response.input_tokens",
        input_tokens: estimatedTokens(readResponses(body, itemsAsked(body, caller)).request),
      }),
    },
  }
}

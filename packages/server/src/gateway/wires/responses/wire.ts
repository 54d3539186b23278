import type { JsonObject } from "@toolwright/toolbox"
import { RequestProblem, type Wire } from "../../wire.ts"
import { itemsOf } from "./input.ts"
import { KeptResponses } from "./kept.ts"
import { readResponses } from "./read.ts"
import { responseFailure, responseStream, wholeResponse, type ResponseReply } from "./write.ts"

/** OpenAI's Responses, as Codex and the AI SDK speak them. */
export function openAIResponses(): Wire {
  const kept = new KeptResponses()

  /** @throws RequestProblem for an answer that is not kept */
  function before(caller: string, id: unknown): readonly JsonObject[] {
    if (id === undefined || id === null) return []
    const items = kept.response(caller, String(id))
    if (items !== undefined) return items
    throw new RequestProblem(
      `The response '${String(id)}' is not kept here (any more): send the conversation in 'input'.`,
      "previous_response_id",
    )
  }

  return {
    id: "openai-responses",
    paths: ["/v1/responses"],
    read(body, { caller }) {
      const asked = itemsOf(body.input, (id) => kept.item(caller, id))
      const items = [...before(caller, body.previous_response_id), ...asked]
      const about: ResponseReply = {
        ...readResponses(body, items),
        fields: body,
        keep: (id, output) => {
          if (body.store !== false) kept.put(caller, id, [...items, ...output])
        },
      }
      return {
        request: about.request,
        streamed: (head) => responseStream(head, about),
        whole: (head, reply) => wholeResponse(head, reply, about),
      }
    },
    failure: responseFailure,
  }
}

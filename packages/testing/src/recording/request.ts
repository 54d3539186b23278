import { createHash } from "node:crypto"
import { isDeepStrictEqual } from "node:util"
import type { InferRequest } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"

/** A request as plain data, without what may be another in each run, such as ids of calls. */
export interface PlainRequest extends JsonObject {
  messages: JsonObject[]
  tools?: JsonObject[]
}

export function plainRequest({ messages, tools, ...rest }: InferRequest): PlainRequest {
  return JSON.parse(
    JSON.stringify({
      messages: messages.map(plainMessage),
      ...(tools === undefined || tools.length === 0 ? {} : { tools }),
      ...rest,
    }),
  ) as PlainRequest
}

function plainMessage(message: ChatMessage): object {
  if (message.role === "tool") {
    const { role, name, success, content } = message
    return { role, name, success, content }
  }
  if (message.role === "assistant") {
    const { toolCalls, ...rest } = message
    return toolCalls === undefined
      ? rest
      : { ...rest, toolCalls: toolCalls.map(({ name, arguments: args }) => ({ name, arguments: args })) }
  }
  if (message.role === "user" && message.media !== undefined) {
    return {
      ...message,
      media: message.media.map((part) => {
        if ("url" in part) return part
        const { base64, ...media } = part
        return { ...media, sha256: createHash("sha256").update(base64).digest("hex") }
      }),
    }
  }
  return message
}

/**
 * Grammars that are longer are kept as their hash: nobody reads them, and they follow from the tools and the
 * conversation.
 */
const READABLE_GRAMMAR = 2000

/** @param request already without what must not be written */
export function withShortGrammar(request: PlainRequest): PlainRequest {
  const { grammar } = request
  if (typeof grammar !== "string" || grammar.length <= READABLE_GRAMMAR) return request
  return {
    ...request,
    grammar: `sha256 ${createHash("sha256").update(grammar).digest("hex").slice(0, 16)}, ${grammar.length} characters`,
  }
}

/** What stands in a file for a part that is the same as in the request before. */
const SAME = "as before"

/** Requests as a recording keeps them: a conversation grows, so each has only what the one before it had not. */
export function packRequests(requests: readonly PlainRequest[]): JsonObject[] {
  return requests.map((request, at) => {
    const before = requests[at - 1]
    if (before === undefined) return request
    const keeps = commonStart(before.messages, request.messages)
    const packed: JsonObject = { ...(keeps === 0 ? {} : { keeps }), messages: request.messages.slice(keeps) }
    for (const [key, value] of Object.entries(request))
      if (key !== "messages") packed[key] = isDeepStrictEqual(value, before[key]) ? SAME : value
    return packed
  })
}

/** The opposite of {@link packRequests}; steps that keep no request have none. */
export function unpackRequests(packed: readonly (JsonObject | undefined)[]): (PlainRequest | undefined)[] {
  let before: PlainRequest = { messages: [] }
  return packed.map((each) => {
    if (each === undefined) return undefined
    const { keeps = 0, messages = [], ...rest } = each as { keeps?: number; messages?: JsonObject[] } & JsonObject
    const request: PlainRequest = { messages: [...before.messages.slice(0, keeps), ...messages] }
    for (const [key, value] of Object.entries(rest)) request[key] = value === SAME ? before[key] : value
    before = request
    return request
  })
}

function commonStart(before: readonly JsonObject[], after: readonly JsonObject[]): number {
  const different = after.findIndex((message, at) => !isDeepStrictEqual(message, before[at]))
  return different === -1 ? after.length : different
}

import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { imageOf, isObject } from "../../fields.ts"
import { RequestProblem } from "../../wire.ts"

type Media = NonNullable<Extract<ChatMessage, { role: "user" }>["media"]>[number]

/**
 * Reads a conversation in Ollama's form: calls may have no ids, and results name the tool alone, or nothing.
 *
 * @throws RequestProblem for what would be lost
 */
export function readMessages(given: unknown): ChatMessage[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new RequestProblem("'messages' must be a list that is not empty.", "messages")
  const messages: ChatMessage[] = []
  /** Calls without their results yet. */
  const open: ToolCall[] = []
  for (const [at, message] of given.entries()) {
    const fields = isObject(message) ? message : {}
    const content = String(fields.content ?? "")
    if (fields.role === "assistant") {
      const reply = readReply(fields, content, `call_${at}`)
      open.push(...(reply.toolCalls ?? []))
      messages.push(reply)
    } else if (fields.role === "user") {
      const media = picturesOf(fields.images, `messages[${at}].images`)
      messages.push({ role: "user", content, ...(media.length === 0 ? {} : { media }) })
    } else if (fields.role === "tool") messages.push(readResult(fields, content, open))
    else if (fields.role === "system") messages.push({ role: "system", content })
    else throw new RequestProblem("A message's role is system, user, assistant or tool.", `messages[${at}].role`)
  }
  return messages
}

type Reply = Extract<ChatMessage, { role: "assistant" }>

function readReply({ thinking, tool_calls: calls }: JsonObject, content: string, ids: string): Reply {
  const toolCalls = (Array.isArray(calls) ? calls : []).map((call, index): ToolCall => {
    const { id, function: body } = (isObject(call) ? call : {}) as { id?: unknown; function?: JsonObject }
    const name = String(body?.name ?? "")
    const args = isObject(body?.arguments) ? body.arguments : {}
    return { id: typeof id === "string" && id !== "" ? id : `${ids}_${index}`, name, arguments: args }
  })
  return {
    role: "assistant",
    content,
    ...(typeof thinking === "string" && thinking !== "" ? { reasoning: thinking } : {}),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  }
}

/** A result is of the call with its id, else of the first open one of its tool, else of the first open one. */
function readResult(fields: JsonObject, content: string, open: ToolCall[]): ChatMessage {
  const { tool_call_id: id, tool_name: named, name: alias } = fields
  const tool = named ?? alias
  const byId = open.findIndex((call) => call.id === id)
  const byName = open.findIndex(({ name }) => name === tool)
  const at = byId >= 0 ? byId : byName >= 0 ? byName : tool === undefined ? 0 : -1
  const [call] = at < 0 ? [] : open.splice(at, 1)
  const name = call?.name ?? String(tool ?? "")
  return { role: "tool", content, callId: call?.id ?? String(id ?? ""), name, success: true }
}

/** Pictures as base64 alone: what they are shows in their first bytes. */
export function picturesOf(given: unknown, place: string): Media[] {
  if (given === undefined || given === null) return []
  if (!Array.isArray(given)) throw new RequestProblem("'images' must be a list.", place)
  return given.map((one, at) => {
    const text = String(one)
    const picture = imageOf(text.startsWith("data:") ? text : `data:${kindOf(text)};base64,${text}`)
    if (picture === undefined)
      throw new RequestProblem("A picture must come with its data in base64.", `${place}[${at}]`)
    return picture
  })
}

function kindOf(base64: string): string {
  if (base64.startsWith("/9j/")) return "image/jpeg"
  if (base64.startsWith("R0lG")) return "image/gif"
  return base64.startsWith("UklG") ? "image/webp" : "image/png"
}

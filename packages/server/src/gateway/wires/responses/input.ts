import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { imageOf, isObject } from "../../fields.ts"
import { RequestProblem } from "../../wire.ts"

type Media = NonNullable<Extract<ChatMessage, { role: "user" }>["media"]>[number]
type Reply = Extract<ChatMessage, { role: "assistant" }>

/** Items of a conversation, as a request names them: texts, items, and references to kept ones. */
export function itemsOf(input: unknown, kept: (id: string) => JsonObject | undefined): JsonObject[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }]
  if (input === undefined || input === null) return []
  if (!Array.isArray(input)) throw new RequestProblem("'input' must be a text or a list of items.", "input")
  return input.map((item, at) => {
    if (!isObject(item)) throw new RequestProblem("Every item must be an object.", `input[${at}]`)
    if (item.type !== "item_reference") return item
    const found = kept(String(item.id))
    if (found !== undefined) return found
    throw new RequestProblem(`The item '${String(item.id)}' is not kept here any more: send it whole.`, `input[${at}]`)
  })
}

/**
 * Reads a conversation of items: calls and results are items of their own, and what the model says, thinks and calls
 * between two of the others is one reply.
 *
 * @throws RequestProblem for what would be lost
 */
export function readItems(items: readonly JsonObject[]): ChatMessage[] {
  const messages: ChatMessage[] = []
  const names = new Map<string, string>()
  const reply = (): Reply => {
    const last = messages.at(-1)
    if (last?.role === "assistant") return last
    const begun: Reply = { role: "assistant", content: "" }
    messages.push(begun)
    return begun
  }
  for (const [at, item] of items.entries()) {
    const place = `input[${at}]`
    switch (item.type ?? "message") {
      case "message": {
        const { text, media } = readContent(item.content, place)
        if (item.role === "assistant") reply().content += text
        else if (item.role === "user")
          messages.push({ role: "user", content: text, ...(media.length === 0 ? {} : { media }) })
        else if (item.role === "system" || item.role === "developer") messages.push({ role: "system", content: text })
        else throw new RequestProblem("A message's role is user, assistant, system or developer.", `${place}.role`)
        break
      }
      case "function_call":
      case "custom_tool_call": {
        const call = callOf(item)
        names.set(call.id, call.name)
        const last = reply()
        last.toolCalls = [...(last.toolCalls ?? []), call]
        break
      }
      case "function_call_output":
      case "custom_tool_call_output": {
        const callId = String(item.call_id)
        const { text, media } = readContent(item.output, place)
        const name = names.get(callId) ?? ""
        messages.push({ role: "tool", content: text, callId, name, success: item.status !== "incomplete" })
        if (media.length > 0) messages.push({ role: "user", content: "", media })
        break
      }
      case "reasoning": {
        const thoughts = [...partsOf(item.summary), ...partsOf(item.content)].map(({ text }) => String(text ?? ""))
        if (thoughts.length > 0) reply().reasoning = thoughts.join("\n")
        break
      }
      default:
        throw new RequestProblem(`Items of the type '${String(item.type)}' cannot be passed on.`, `${place}.type`)
    }
  }
  return messages
}

/** The input of a custom tool is one text, which stands in for its arguments. */
function callOf({ type, call_id: id, name, arguments: args, input }: JsonObject): ToolCall {
  const call = { id: String(id), name: String(name) }
  if (type === "custom_tool_call") return { ...call, arguments: { input: String(input ?? "") } }
  const text = typeof args === "string" && args.trim() !== "" ? args : "{}"
  try {
    const parsed: unknown = JSON.parse(text)
    return { ...call, arguments: isObject(parsed) ? parsed : { _raw: text } }
  } catch {
    return { ...call, arguments: { _raw: text } }
  }
}

function partsOf(content: unknown): JsonObject[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

function readContent(content: unknown, place: string): { text: string; media: Media[] } {
  if (typeof content === "string") return { text: content, media: [] }
  const texts: string[] = []
  const media: Media[] = []
  for (const [index, part] of partsOf(content).entries()) {
    const { type } = part
    if (type === "input_text" || type === "output_text" || type === "text") texts.push(String(part.text ?? ""))
    else if (type === "refusal") texts.push(String(part.refusal ?? ""))
    else if (type === "input_image") {
      const picture = imageOf(part.image_url)
      if (picture === undefined)
        throw new RequestProblem(
          "A picture must be a 'data:' address with base64, or an http(s) one.",
          `${place}.content[${index}]`,
        )
      media.push(picture)
    } else
      throw new RequestProblem(
        `Parts of the type '${String(type)}' cannot be passed on. Send them as text.`,
        `${place}.content[${index}]`,
      )
  }
  return { text: texts.join(""), media }
}

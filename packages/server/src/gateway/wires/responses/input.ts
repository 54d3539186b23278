import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { imageOf, isObject } from "../../fields.ts"
import { RequestProblem } from "../../wire.ts"
import type { OfferedTools } from "./tools.ts"

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
export function readItems(items: readonly JsonObject[], offered: OfferedTools): ChatMessage[] {
  const reader = new ItemReader(offered)
  for (const [at, item] of items.entries()) reader.read(item, `input[${at}]`)
  return reader.messages
}

class ItemReader {
  readonly messages: ChatMessage[] = []
  readonly #names = new Map<string, string>()
  readonly #offered: OfferedTools

  constructor(offered: OfferedTools) {
    this.#offered = offered
  }

  read(item: JsonObject, place: string): void {
    switch (item.type ?? "message") {
      case "message":
        return this.#message(item, place)
      case "function_call":
      case "custom_tool_call":
        return this.#call(item)
      case "function_call_output":
      case "custom_tool_call_output":
        return this.#result(item, place)
      case "reasoning":
        return this.#reasoning(item)
      default:
        throw new RequestProblem(`Items of the type '${String(item.type)}' cannot be passed on.`, `${place}.type`)
    }
  }

  #message({ role, content }: JsonObject, place: string): void {
    const { text, media } = readContent(content, place)
    if (role === "assistant") this.#reply().content += text
    else if (role === "user")
      this.messages.push({ role: "user", content: text, ...(media.length === 0 ? {} : { media }) })
    else if (role === "system" || role === "developer") this.messages.push({ role: "system", content: text })
    else throw new RequestProblem("A message's role is user, assistant, system or developer.", `${place}.role`)
  }

  #call(item: JsonObject): void {
    const given = callOf(item)
    const call = { ...given, name: this.#offered.toldName(given.name, item.namespace) }
    this.#names.set(call.id, call.name)
    const last = this.#reply()
    last.toolCalls = [...(last.toolCalls ?? []), call]
  }

  #result(item: JsonObject, place: string): void {
    const callId = String(item.call_id)
    const { text, media } = readContent(item.output, place)
    const name = this.#names.get(callId) ?? ""
    this.messages.push({ role: "tool", content: text, callId, name, success: item.status !== "incomplete" })
    if (media.length > 0) this.messages.push({ role: "user", content: "", media })
  }

  #reasoning({ summary, content }: JsonObject): void {
    const thoughts = [...partsOf(summary), ...partsOf(content)].map(({ text }) => String(text ?? ""))
    if (thoughts.length > 0) this.#reply().reasoning = thoughts.join("\n")
  }

  /** The reply that goes on, or a new one. */
  #reply(): Reply {
    const last = this.messages.at(-1)
    if (last?.role === "assistant") return last
    const begun: Reply = { role: "assistant", content: "" }
    this.messages.push(begun)
    return begun
  }
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

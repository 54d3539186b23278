import type { JsonObject, ToolCall } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"
import { imageOf, isObject } from "../../fields.ts"
import { RequestProblem } from "../../wire.ts"

type Media = NonNullable<Extract<ChatMessage, { role: "user" }>["media"]>[number]

/**
 * Reads a conversation in Anthropic's form: results of calls stand in messages of the user, before what he says.
 *
 * @throws RequestProblem for what would be lost
 */
export function readMessages(system: unknown, given: unknown): ChatMessage[] {
  if (!Array.isArray(given) || given.length === 0)
    throw new RequestProblem("'messages' must be a list that is not empty.", "messages")
  const instructions = textOf(withoutBilling(system), "system")
  const messages: ChatMessage[] = instructions === "" ? [] : [{ role: "system", content: instructions }]
  const names = new Map<string, string>()
  for (const [at, message] of given.entries()) {
    const { role, content } = isObject(message) ? message : {}
    const place = `messages.${at}`
    if (role === "assistant") messages.push(readReply(content, names, place))
    else if (role === "user") messages.push(...readTurn(content, names, place))
    else if (role === "system") messages.push({ role, content: textOf(content, place) })
    else throw new RequestProblem("A message's role is user or assistant.", `${place}.role`)
  }
  return messages
}

/** Claude Code puts a line before everything that is for Anthropic's accounts, and differs from session to session. */
const BILLING = "x-anthropic-billing-header:"

export function hasBilling(system: unknown): boolean {
  return withoutBilling(system) !== system
}

/** A prompt that begins differently each time finds nothing in the cache of the model's server. */
function withoutBilling(system: unknown): unknown {
  if (!Array.isArray(system)) return system
  const kept = system.filter((block) => !(isObject(block) && String(block.text ?? "").startsWith(BILLING)))
  return kept.length === system.length ? system : kept
}

/** Tools that results of a tool search named, in their order. */
export function namedTools(messages: unknown): string[] {
  const results = (Array.isArray(messages) ? messages : []).flatMap(contentOf)
  const parts = [...results, ...results.flatMap(contentOf)]
  const names = parts.flatMap((part) => (part.type === "tool_reference" ? [String(part.tool_name)] : []))
  return [...new Set(names)]
}

function contentOf(holder: unknown): JsonObject[] {
  return isObject(holder) && Array.isArray(holder.content) ? holder.content.filter(isObject) : []
}

function blocksOf(content: unknown, place: string): JsonObject[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }]
  if (Array.isArray(content) && content.every(isObject)) return content
  if (content === undefined || content === null) return []
  throw new RequestProblem("'content' must be a text or a list of blocks.", `${place}.content`)
}

function textOf(content: unknown, place: string): string {
  return blocksOf(content, place)
    .map((block) => (typeof block.text === "string" ? block.text : ""))
    .join("\n\n")
}

function readReply(content: unknown, names: Map<string, string>, place: string): ChatMessage {
  const texts: string[] = []
  const thoughts: string[] = []
  const toolCalls: ToolCall[] = []
  for (const block of blocksOf(content, place)) {
    if (block.type === "text") texts.push(String(block.text ?? ""))
    else if (block.type === "thinking") thoughts.push(String(block.thinking ?? ""))
    else if (block.type === "tool_use") {
      const call = {
        id: String(block.id),
        name: String(block.name),
        arguments: isObject(block.input) ? block.input : {},
      }
      names.set(call.id, call.name)
      toolCalls.push(call)
    } else if (block.type !== "redacted_thinking") throw unknownBlock(block, place)
  }
  return {
    role: "assistant",
    content: texts.join(""),
    ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join("") }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  }
}

function readTurn(content: unknown, names: ReadonlyMap<string, string>, place: string): ChatMessage[] {
  const results: ChatMessage[] = []
  const said: string[] = []
  const media: Media[] = []
  for (const block of blocksOf(content, place)) {
    if (block.type === "tool_result") {
      const callId = String(block.tool_use_id)
      const result = readParts(blocksOf(block.content, place), place)
      media.push(...result.media)
      const name = names.get(callId) ?? ""
      results.push({ role: "tool", content: result.text, callId, name, success: block.is_error !== true })
    } else {
      const { text, media: shown } = readParts([block], place)
      if (text !== "") said.push(text)
      media.push(...shown)
    }
  }
  if (said.length === 0 && media.length === 0 && results.length > 0) return results
  return [...results, { role: "user", content: said.join("\n\n"), ...(media.length === 0 ? {} : { media }) }]
}

/** The text and the pictures of blocks. */
function readParts(blocks: readonly JsonObject[], place: string): { text: string; media: Media[] } {
  const texts: string[] = []
  const media: Media[] = []
  for (const block of blocks) {
    const source = isObject(block.source) ? block.source : {}
    if (block.type === "text") texts.push(String(block.text ?? ""))
    else if (block.type === "image") media.push(pictureOf(source, place))
    else if (block.type === "document" && source.type === "text") texts.push(documentText(block, String(source.data)))
    else if (block.type === "document" && source.type === "content")
      texts.push(documentText(block, textOf(source.content, place)))
    else if (block.type === "tool_reference") texts.push(`The tool '${String(block.tool_name)}' is on offer now.`)
    else if (block.type === "search_result") texts.push(documentText(block, textOf(block.content, place)))
    else throw unknownBlock(block, place)
  }
  return { text: texts.join("\n"), media }
}

function pictureOf(source: JsonObject, place: string): Media {
  const url = source.type === "base64" ? `data:${String(source.media_type)};base64,${String(source.data)}` : source.url
  const picture = imageOf(url)
  if (picture === undefined)
    throw new RequestProblem("A picture must come with its data in base64, or by an http(s) address.", place)
  return picture
}

function documentText({ title }: JsonObject, text: string): string {
  return typeof title === "string" && title !== "" ? `${title}\n\n${text}` : text
}

function unknownBlock({ type, source }: JsonObject, place: string): RequestProblem {
  const kind = isObject(source) ? ` (${String(source.media_type ?? source.type)})` : ""
  return new RequestProblem(
    `Blocks of the type '${String(type)}'${kind} cannot be passed on. Send them as text.`,
    `${place}.content`,
  )
}

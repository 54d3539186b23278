import type { ToolDefinition } from "@toolwright/toolbox"
import { toOpenAITools, type ChatMessage, type OpenAITool } from "@toolwright/toolformat"
import { CALL_TOOL, namesIn, searchIn, searchTool, throughTool, TOOL_SEARCH } from "../search/tool-search.ts"

/** How a request's tools are told, where not all of them are declared at the front of its prompt. */
export interface ToldTools {
  /** All of them, which may be called whether they were told or not. */
  all: readonly ToolDefinition[]
  /** At the front of a prompt in text, which stays as it is while the tools do. */
  declared: readonly ToolDefinition[]
  /** At the front of a native request, likewise. */
  declaredNatively: readonly OpenAITool[]
  /** Those that only a search tells. */
  deferred: readonly ToolDefinition[]
  /** What is told beside the client's: the search, and what calls what it found. */
  own: readonly ToolDefinition[]
}

/** What is deferred. */
export interface DeferRules {
  /** Tokens that the tools of a request may take. */
  room: number | undefined
  /** Tools that are deferred whatever they take. */
  names: readonly string[]
}

/**
 * Which tools stand at the front: the first that have room, in the client's order, and a search for the others. It
 * depends on the list alone, so the front is the same in every request that brings the same. Nothing where all have
 * room, or where the client has a search of its own.
 */
export function tellTools(
  given: readonly OpenAITool[],
  all: readonly ToolDefinition[],
  { room, names }: DeferRules,
): ToldTools | undefined {
  if (all.some(({ name }) => name === TOOL_SEARCH || name === CALL_TOOL)) return undefined
  const sizes = given.map(tokensOf)
  const enough = room === undefined || sizes.reduce((sum, size) => sum + size, 0) <= room
  if (enough && !given.some((tool) => names.includes(tool.function.name))) return undefined
  let left = enough ? Number.POSITIVE_INFINITY : room - tokensOfOwn(all)
  const front = given.map((tool, at) => {
    if (names.includes(tool.function.name) || sizes[at]! > left) return false
    left -= sizes[at]!
    return true
  })
  const deferred = all.filter((_, at) => !front[at])
  if (deferred.length === 0) return undefined
  const search = searchTool(namesIn(deferred), (query) => searchIn(deferred, query))
  const own = [search, throughTool()]
  return {
    all,
    declared: [...all.filter((_, at) => front[at]), search],
    declaredNatively: [...given.filter((_, at) => front[at]), ...toOpenAITools(own)],
    deferred,
    own,
  }
}

/** A conversation as a server's own template may write it: calls of tools that it was not told go through another. */
export function writtenNatively({ deferred }: ToldTools, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const names = new Set(deferred.map(({ name }) => name))
  return messages.map((message): ChatMessage => {
    if (message.role === "tool") return names.has(message.name) ? { ...message, name: CALL_TOOL } : message
    if (message.role !== "assistant" || !message.toolCalls?.some(({ name }) => names.has(name))) return message
    const toolCalls = message.toolCalls.map((call) =>
      names.has(call.name)
        ? { ...call, name: CALL_TOOL, arguments: { name: call.name, arguments: call.arguments } }
        : call,
    )
    return { ...message, toolCalls }
  })
}

/** An estimate: a quarter of the characters. */
function tokensOf(tool: OpenAITool): number {
  return Math.ceil(JSON.stringify(tool).length / 4)
}

function tokensOfOwn(all: readonly ToolDefinition[]): number {
  return toOpenAITools([searchTool(namesIn(all), () => undefined), throughTool()]).reduce(
    (sum, tool) => sum + tokensOf(tool),
    0,
  )
}

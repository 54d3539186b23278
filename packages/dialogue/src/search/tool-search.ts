import {
  defineTool,
  failure,
  success,
  type JsonObject,
  type ToolCall,
  type ToolDefinition,
  type ToolResult,
} from "@toolwright/toolbox"
import { findTools } from "./find-tools.ts"

/** The tool by which a model finds those that are not declared at the front of its prompt. */
export const TOOL_SEARCH = "tool_search"
/** The tool through which found tools are called where the server's own list of tools may not change. */
export const CALL_TOOL = "call_tool"

/** Tools and characters of declarations that one search shows. */
export const MOST_SHOWN = 5
const MOST_SHOWN_CHARS = 6000
/** Characters of names in the search's description. */
const MOST_NAMED_CHARS = 300

/** @param names of the tools that it finds, see {@link namesIn} */
export function searchTool(names: string, find: (query: string) => unknown): ToolDefinition {
  return defineTool({
    name: TOOL_SEARCH,
    description:
      names === ""
        ? "Shows all arguments and actions of a tool that is declared in short."
        : `Shows how further tools are called. There are: ${names}.`,
    effects: { readOnly: true, idempotent: true },
    maxOutputChars: MOST_SHOWN_CHARS + 1000,
    parameters: {
      type: "object",
      properties: { query: { type: "string", minLength: 1, description: "Names of tools, or words for the task" } },
      required: ["query"],
      additionalProperties: false,
    },
    execute: ({ query }) => find(query),
  })
}

/** It is never run itself: the call that it holds is. */
export function throughTool(): ToolDefinition {
  return defineTool({
    name: CALL_TOOL,
    description: `Calls a tool that ${TOOL_SEARCH} has shown.`,
    parameters: {
      type: "object",
      properties: {
        name: { type: "string", description: "Its name" },
        arguments: { type: "object", description: "Its arguments", additionalProperties: true },
      },
      required: ["name", "arguments"],
      additionalProperties: false,
    },
    execute: () =>
      failure({
        code: "INVALID_ARGUMENTS",
        message: "The call names no tool that could be called this way.",
        hint: `Give "name" and "arguments" of a tool that ${TOOL_SEARCH} has shown.`,
      }),
  })
}

/** What a search for tools tells: how those that it found are called. `data.tools` has their names. */
export function searchIn(tools: readonly ToolDefinition[], query: string): ToolResult {
  const found = findTools(tools, query, MOST_SHOWN)
  if (found.length === 0)
    return failure({
      code: "NO_TOOL_FOUND",
      message: `No tool is about '${query}'.`,
      hint: `Other tools: ${namesIn(tools)}.`,
    })
  let room = MOST_SHOWN_CHARS
  const declarations = found
    .map((tool) => ({ tool, text: declarationOf(tool) }))
    .filter(({ text }, index) => (room -= text.length) >= 0 || index === 0)
  const names = declarations.map(({ tool }) => tool.name)
  return success({ output: declarations.map(({ text }) => text).join("\n"), data: { tools: names } })
}

/** The tools that a result of this tool showed. */
export function shownIn(name: string, data: unknown): readonly string[] {
  const tools = name === TOOL_SEARCH && isObject(data) ? data["tools"] : undefined
  return Array.isArray(tools) ? tools.filter((tool) => typeof tool === "string") : []
}

/** The call that is meant by one through `call_tool`; any other is itself. */
export function meantBy(call: ToolCall): ToolCall {
  if (call.name !== CALL_TOOL) return call
  const { name, arguments: args = {} } = call.arguments
  const given = typeof args === "string" ? parsed(args) : args
  const isCall = typeof name === "string" && name !== call.name && isObject(given)
  return isCall ? { ...call, name, arguments: given } : call
}

/** One line in which a tool is declared where the conversation stands. */
export function declarationOf(tool: ToolDefinition): string {
  const { name, description, parameters } = tool
  const hint = tool.usageHint === undefined ? {} : { use: tool.usageHint }
  return JSON.stringify({ name, description, ...hint, parameters })
}

export function namesIn(tools: readonly ToolDefinition[]): string {
  const names: string[] = []
  let room = MOST_NAMED_CHARS
  for (const { name } of tools) if ((room -= name.length + 2) >= 0) names.push(name)
  const more = tools.length - names.length
  return names.join(", ") + (more === 0 ? "" : ` and ${more} more`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

import type { SamplingOptions } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import { customParameters, type ChatMessage, type OpenAITool } from "@toolwright/toolformat"
import { RequestProblem } from "./wire.ts"

/** What several wires read in the same way. */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** @throws RequestProblem for what is none: a setting that is passed over in silence is taken to hold */
export function numberAt(fields: JsonObject, name: string): number | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === "number" && Number.isFinite(value)) return value
  throw new RequestProblem(`'${name}' must be a number.`, name)
}

/** @throws RequestProblem */
export function switchAt(fields: JsonObject, name: string): boolean | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  if (typeof value === "boolean") return value
  throw new RequestProblem(`'${name}' must be true or false.`, name)
}

/** Sampler settings without those that are not given. */
export function given(settings: {
  [Name in keyof SamplingOptions]: SamplingOptions[Name] | undefined
}): SamplingOptions {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

/** A list of texts, or one text. @throws RequestProblem */
export function textsAt(fields: JsonObject, name: string): string[] | undefined {
  const value = fields[name]
  if (value === undefined || value === null) return undefined
  const texts: unknown[] = Array.isArray(value) ? value : [value]
  if (texts.every((text) => typeof text === "string")) return texts
  throw new RequestProblem(`'${name}' must be a text or a list of texts.`, name)
}

/** The tools that a choice leaves, and whether one of them has to be called. */
export interface ChosenTools {
  tools: OpenAITool[]
  toolChoice: "auto" | "none" | "required"
}

/** @throws RequestProblem for a tool that is not on offer */
export function onlyTools(tools: readonly OpenAITool[], names: readonly string[], required: boolean): ChosenTools {
  for (const name of names) {
    if (tools.some((tool) => tool.function.name === name)) continue
    throw new RequestProblem(`'tool_choice' names the tool '${name}', which is not among 'tools'.`, "tool_choice")
  }
  const chosen = tools.filter((tool) => names.includes(tool.function.name))
  return { tools: chosen, toolChoice: required ? "required" : "auto" }
}

/**
 * Characters of all grammars of one request that are read; a class of Unicode in five of them is hundreds of ranges.
 */
const MOST_GRAMMAR = 400_000
const OF_UNICODE = 750

/** What the grammars of one request may still take: reading them is done before anybody else is answered. */
export class GrammarRoom {
  #left = MOST_GRAMMAR

  /** @throws Error where they get too large together */
  take(definition: string): void {
    this.#left -= definition.length
    for (const _ of this.#left < 0 ? [] : definition.matchAll(/\\[pP]\{/g)) this.#left -= OF_UNICODE
    if (this.#left < 0) throw new Error("The grammars of the request are too large together.")
  }
}

/**
 * A custom tool of OpenAI's, as a function of one text. A grammar that cannot be read here holds nothing, and is told
 * to the model in words.
 */
export function customTool(
  { name, description, format }: { name: string; description?: unknown; format?: unknown },
  room: GrammarRoom,
): { tool: OpenAITool; grammarLeft: boolean } {
  const tool = (said: string, parameters: JsonObject): OpenAITool => ({
    type: "function",
    function: { name, description: said, parameters },
  })
  const said = String(description ?? "")
  try {
    room.take(grammarIn(format))
    return { tool: tool(said, customParameters(name, format)), grammarLeft: false }
  } catch {
    const told = `${said}\n\nThe input follows this grammar:\n${grammarIn(format)}`
    return { tool: tool(told, customParameters(name, undefined)), grammarLeft: true }
  }
}

function grammarIn(format: unknown): string {
  const { grammar = format } = (isObject(format) ? format : {}) as { grammar?: unknown }
  return String((isObject(grammar) ? grammar : {}).definition ?? "")
}

/** Something other than text in a message. */
type Media = NonNullable<Extract<ChatMessage, { role: "user" }>["media"]>[number]

/** A picture as every wire can name one: its address, or its data in one. Nothing for what is neither. */
export function imageOf(url: unknown): Media | undefined {
  if (typeof url !== "string") return undefined
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  if (data !== null) return { type: "image", mimeType: data[1]!, base64: data[2]! }
  return /^https?:\/\//i.test(url) ? { type: "image", url } : undefined
}

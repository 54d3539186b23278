import type { SamplingOptions } from "@toolwright/backends"
import type { JsonObject } from "@toolwright/toolbox"
import type { ChatMessage, OpenAITool } from "@toolwright/toolformat"
import { RequestProblem } from "./wire.ts"

/** What several wires read in the same way. */

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

export function numberAt(fields: JsonObject, name: string): number | undefined {
  return typeof fields[name] === "number" ? fields[name] : undefined
}

/** Sampler settings without those that are not given. */
export function given(settings: {
  [Name in keyof SamplingOptions]: SamplingOptions[Name] | undefined
}): SamplingOptions {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

/** A list of texts, or one text. */
export function textsAt(value: unknown): string[] | undefined {
  if (typeof value === "string") return [value]
  return Array.isArray(value) ? value.map(String) : undefined
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

/** Something other than text in a message. */
type Media = NonNullable<Extract<ChatMessage, { role: "user" }>["media"]>[number]

/** A picture as every wire can name one: its address, or its data in one. Nothing for what is neither. */
export function imageOf(url: unknown): Media | undefined {
  if (typeof url !== "string") return undefined
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(url)
  if (data !== null) return { type: "image", mimeType: data[1]!, base64: data[2]! }
  return /^https?:\/\//i.test(url) ? { type: "image", url } : undefined
}

import { isDeepStrictEqual } from "node:util"
import { structuredPatch } from "diff"
import type { JsonObject } from "@toolwright/toolbox"
import type { PlainRequest } from "./request.ts"

/** Parts of a request that need not be as they were. */
export type RequestPart = "system" | "tools" | "sampling" | "grammar" | "extraBody"

/** Whether two requests are the same, but for parts that do not count. */
export function sameRequest(recorded: PlainRequest, now: PlainRequest, ignore: readonly RequestPart[]): boolean {
  return isDeepStrictEqual(without(recorded, ignore), without(now, ignore))
}

function without(request: PlainRequest, ignore: readonly RequestPart[]): PlainRequest {
  const rest: PlainRequest = {
    ...request,
    messages: request.messages.filter(({ role }) => !(role === "system" && ignore.includes("system"))),
  }
  for (const part of ignore) delete rest[part]
  return rest
}

/** Lines of a difference that are shown at most. */
const MOST_LINES = 60

/** What is different now, part by part: lines with `-` were recorded, lines with `+` are sent now. */
export function differenceOf(recorded: PlainRequest, now: PlainRequest, ignore: readonly RequestPart[] = []): string {
  const before = sectionsOf(without(recorded, ignore))
  const after = sectionsOf(without(now, ignore))
  const lines = [...new Set([...before.keys(), ...after.keys()])].flatMap((title) => {
    const [was, is] = [before.get(title), after.get(title)]
    if (was === is) return []
    if (was === undefined) return [`${title} is new:`, ...marked("+", is!)]
    if (is === undefined) return [`${title} is no longer there:`, ...marked("-", was)]
    return [`${title}:`, ...linesOf(was, is)]
  })
  const left = lines.length - MOST_LINES
  return (left <= 0 ? lines : [...lines.slice(0, MOST_LINES), `… ${left} more lines`]).join("\n")
}

function linesOf(was: string, is: string): string[] {
  const { hunks } = structuredPatch("", "", `${was}\n`, `${is}\n`, "", "", { context: 2 })
  return hunks.flatMap(({ lines }, at) => [...(at === 0 ? [] : ["  …"]), ...lines.map((line) => `  ${line}`)])
}

const marked = (sign: string, text: string): string[] => text.split("\n").map((line) => `  ${sign}${line}`)

/** A request as titles and texts. */
function sectionsOf({ messages, tools = [], ...rest }: PlainRequest): Map<string, string> {
  const sections = new Map<string, string>()
  for (const [at, message] of messages.entries()) sections.set(`message ${at + 1}${kindOf(message)}`, textOf(message))
  for (const tool of tools) {
    const { name, ...definition } = tool.function as { name: string } & JsonObject
    sections.set(`the tool ${name}`, json(definition))
  }
  for (const [key, value] of Object.entries(rest)) sections.set(key, typeof value === "string" ? value : json(value))
  return sections
}

function kindOf({ role, name }: JsonObject): string {
  return role === "tool" ? `, result of ${String(name)}` : `, ${String(role)}`
}

function textOf({ role: _role, name: _name, content, ...rest }: JsonObject): string {
  const more = Object.entries(rest).filter(([key]) => key !== "success" || rest.success === false)
  return [String(content), ...more.map(([key, value]) => `${key}: ${json(value)}`)]
    .filter((part) => part !== "")
    .join("\n")
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

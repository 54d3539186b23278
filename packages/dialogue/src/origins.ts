import { annotationOf, groundedBy, type Grounded, type Grounding } from "@toolwright/logits"
import type { ArgumentOrigin, OriginPlace, ToolCall, ToolDefinition } from "@toolwright/toolbox"
import type { ChatMessage } from "@toolwright/toolformat"

/** What decides whether an argument had to come from what was said. */
export interface HeldBy {
  tools: readonly ToolDefinition[]
  /** Of the grammar that held the reply, if any did. */
  grounding: Grounding | undefined
}

/** Values of one reply that are looked for, how long one may be, and how many characters of a message are looked at. */
const MOST_VALUES = 64
const LONGEST_VALUE = 4000
const LONGEST_MESSAGE = 1_000_000
/** Words that are kept on each side, in characters, and of a long text its beginning. */
const AROUND = 40
const SHOWN = 200

/**
 * Where the values of calls stand in what was said to the model: by users and tools, the newest place first. One that
 * stands nowhere whole is looked for by the parts of its path.
 */
export function originsOf(calls: readonly ToolCall[], messages: readonly ChatMessage[], by: HeldBy): ArgumentOrigin[] {
  const said = messages
    .map((message, index) => ({ index, role: message.role, text: message.content.slice(-LONGEST_MESSAGE) }))
    .filter(({ role }) => role === "user" || role === "tool")
    .toReversed()
  const values = calls.flatMap(({ id, name, arguments: args }) =>
    valuesIn(args).map(([argument, value]) => ({ id, name, argument, value })),
  )
  return values.slice(0, MOST_VALUES).map(({ id, name, argument, value }) => {
    const held = heldAs(name, argument, by)
    return { callId: id, argument, ...(held === undefined ? {} : { held }), places: placesOf(value, said) }
  })
}

interface Said {
  index: number
  role: string
  text: string
}

function placesOf(value: string, said: readonly Said[]): OriginPlace[] {
  if (value.trim() === "" || value.length > LONGEST_VALUE) return []
  const whole = placeOf(value, said)
  if (whole !== undefined) return [whole]
  const parts = value.split("/").filter((part) => part !== "" && part !== ".")
  if (parts.length < 2) return []
  const places = parts.map((part) => placeOf(part, said))
  return places.every((place) => place !== undefined) ? places : []
}

/** A word of its own goes before a part of one. */
function placeOf(value: string, said: readonly Said[]): OriginPlace | undefined {
  for (const whole of [true, false])
    for (const { index, role, text } of said) {
      const at = foundIn(text, value, whole)
      if (at < 0) continue
      const end = at + value.length
      return {
        message: index,
        role,
        before: text.slice(Math.max(0, at - AROUND), at),
        text: value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value,
        after: text.slice(end, end + AROUND),
      }
    }
  return undefined
}

const WORD = /[\p{L}\p{N}_]/u

function foundIn(text: string, value: string, whole: boolean): number {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    if (!whole) return at
    const [before = "", after = ""] = [text[at - 1], text[at + value.length]]
    const cuts = (WORD.test(before) && WORD.test(value[0]!)) || (WORD.test(after) && WORD.test(value.at(-1)!))
    if (!cuts) return at
  }
  return -1
}

/** The strings and numbers of arguments with the names that lead to them. */
function valuesIn(value: unknown, path = ""): [path: string, text: string][] {
  if (typeof value === "string") return [[path, value]]
  if (typeof value === "number") return [[path, String(value)]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, each]) => valuesIn(each, path === "" ? name : `${path}.${name}`))
}

/** The kind of rule that held an argument: the tool's own annotation, or a rule for it. */
function heldAs(name: string, path: string, { tools, grounding }: HeldBy): string | undefined {
  if (grounding === undefined) return undefined
  const [argument = ""] = path.split(".")
  const properties = tools.find((tool) => tool.name === name)?.parameters.properties as
    | Record<string, unknown>
    | undefined
  const property = properties?.[argument]
  const annotated = typeof property === "object" && property !== null ? annotationOf(property) : undefined
  const found: Grounded | undefined = groundedBy(grounding.rules ?? {}, name, argument) ?? annotated
  return typeof found === "string" ? found : found?.kind
}

/** Raw replies in every format, whole and cut anywhere: nothing throws, and no cut makes a difference. */
import { deepStrictEqual } from "node:assert"
import type { ToolDefinition } from "@toolwright/toolbox"
import { cutText, formatterOf, listFormats, toolsFromJson, type Format, type ParseEvent } from "@toolwright/toolformat"
import { cutAnywhere, mutateText, randomText, type Random } from "./random.ts"
import type { Target } from "./target.ts"

const TOOLS: ToolDefinition[] = toolsFromJson([
  {
    name: "edit",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        count: { type: "integer" },
        lines: { type: "array", items: { type: "string" } },
        options: { type: "object", properties: { deep: { type: ["boolean", "null"] } } },
        either: { anyOf: [{ type: "number" }, { type: "object", properties: { a: { type: "string" } } }] },
      },
      required: ["path"],
    },
  },
  { name: "f" },
  { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
])

const CALLS = [
  { id: "1", name: "edit", arguments: { path: "a.ts", count: 3, lines: ["x", "y}"], options: { deep: null } } },
  { id: "2", name: "f", arguments: {} },
  { id: "3", name: "get_weather", arguments: { city: 'Sankt "Gallen"\n</tool_call>' } },
]

const FORMATS = listFormats().filter((format) => format.apiOnly === undefined)
const PRINTED = new Map(
  FORMATS.map((format) => [
    format.id,
    [...CALLS.map((call) => [call]), CALLS].map((calls) => formatterOf(format).printCalls(calls, TOOLS)),
  ]),
)
/** Every mark of every family, out of what the families print. */
const MARKS = [
  ...new Set(
    [...PRINTED.values()]
      .flat()
      .flatMap((text) => text.match(/<[^<>\s]{1,40}>|\[[A-Z_/]+\]|[{}[\]()"'`:=,|]+|\n+/g) ?? []),
  ),
  "<think>",
  "</think>",
  "```json\n",
  "```tool_code\n",
  "```",
  "edit",
  "f",
  "get_weather",
  '{"name": "f", "arguments": {',
  "functions.f",
  "\\",
  "\\u00",
  "\ud83d",
  "Action: ",
  "<|",
  "|>",
  "<",
  "print(f())",
  "0",
  "null",
  "true",
  "-1e999",
  " ",
  "I will call ",
]

function reply(random: Random): { format: Format; text: string } {
  const format = random.pick(FORMATS)
  const own = PRINTED.get(format.id)!
  const form = random.next()
  if (form < 0.15) return { format, text: randomText(random, MARKS, 30) }
  if (form < 0.2) return { format, text: random.pick(MARKS).repeat(1 + random.below(2000)) }
  const printed = random.chance(0.7) ? random.pick(own) : random.pick([...PRINTED.values()].flat())
  const around = random.chance(0.5) ? randomText(random, MARKS, 4) : ""
  return { format, text: around + mutateText(random, printed, MARKS) + (random.chance(0.3) ? random.pick(own) : "") }
}

export const replyTarget: Target = {
  name: "replies",
  show(random) {
    const { format, text } = reply(random)
    return `${format.id}: ${JSON.stringify(text).slice(0, 4000)}`
  },
  run(random) {
    const { format, text } = reply(random)
    const tools = random.chance(0.8) ? TOOLS : []
    const options = {
      tools,
      callsInReasoning: random.pick(["drop", "accept"] as const),
      callsBefore: random.pick([0, 3]),
      startsInReasoning: random.chance(0.1),
    }
    const formatter = formatterOf(format)
    const read = (pieces: readonly string[]): ParseEvent[] => {
      const parser = formatter.createParser(options)
      return joined([...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()])
    }
    const whole = read([text])
    deepStrictEqual(read(cutAnywhere(random, text)), whole, "a cut makes a difference")
    if (random.chance(0.2)) deepStrictEqual(read(cutText(text, "char")), whole, "characters make a difference")
    for (const event of whole) if (event.type === "call-end") formatter.printCalls([event.call], tools)
  },
}

/** Adjacent deltas of a kind as one. */
function joined(events: readonly ParseEvent[]): ParseEvent[] {
  const result: ParseEvent[] = []
  for (const event of events) {
    const last = result.at(-1)
    const same =
      last !== undefined &&
      "text" in last &&
      "text" in event &&
      last.type === event.type &&
      (!("index" in last) || !("index" in event) || last.index === event.index)
    if (same) last.text += event.text
    else result.push({ ...event })
  }
  return result
}

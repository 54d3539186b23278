/**
 * Three replies of every family: a plain call after a sentence, two calls with difficult values, one after a thought.
 */
import { formatterOf, listFormats, toolsFromJson, type Format } from "@toolwright/toolformat"

const TOOLS = [
  {
    name: "write_note",
    description: "Keeps a note",
    parameters: {
      type: "object",
      properties: {
        title: { type: "string" },
        body: { type: "string" },
        stars: { type: "integer" },
        tags: { type: "array", items: { type: "string" } },
        options: { type: "object", properties: { pinned: { type: "boolean" }, colour: { type: ["string", "null"] } } },
      },
      required: ["title"],
    },
  },
  { name: "list_notes", description: "Lists the notes", parameters: { type: "object", properties: {} } },
]

export interface Reply {
  family: string
  name: string
  tools: typeof TOOLS
  raw: string
  /** Present where the family's calls never stand in text: the reply is a body of its API. */
  body?: unknown
  expected_calls: { name: string; arguments: Record<string, unknown> }[]
  expected_content: string
  expected_reasoning: string
}

const plain = [{ name: "write_note", arguments: { title: "Milk", stars: 2 } }]
const difficult = [
  {
    name: "write_note",
    arguments: {
      title: 'The "large" one',
      body: "First line\nsecond: a < b, c > d & {e}\n\tthird, with \\ and '",
      tags: ["x, y", "[z]", "Zoë 🐢"],
      options: { pinned: true, colour: null },
    },
  },
  { name: "list_notes", arguments: {} },
]

export function replies(): Reply[] {
  return listFormats().flatMap((format) => (format.apiOnly === undefined ? textReplies(format) : apiReplies(format)))
}

type Calls = Reply["expected_calls"]

function textReplies(format: Format): Reply[] {
  const formatter = formatterOf(format)
  const print = (calls: Calls) =>
    formatter.printCalls(
      calls.map((call, index) => ({ id: idOf(format, index), name: call.name, arguments: call.arguments })),
      toolsFromJson(TOOLS),
    )
  const reply = (name: string, raw: string, calls: Calls, content = "", reasoning = ""): Reply => ({
    family: format.id,
    name,
    tools: TOOLS,
    raw,
    expected_calls: calls,
    expected_content: content,
    expected_reasoning: reasoning,
  })
  const open = format.reasoning?.open[0]
  const close = format.reasoning?.close[0]
  const thought = "The list comes first."
  return [
    reply("a sentence and a call", `I keep that.\n${print(plain)}`, plain, "I keep that."),
    reply("two calls with difficult values", print(difficult), difficult),
    open === undefined || close === undefined
      ? reply("a call without arguments", print(difficult.slice(1)), difficult.slice(1))
      : reply(
          "a thought and a call",
          `${open}${thought}${close}${print(difficult.slice(1))}`,
          difficult.slice(1),
          "",
          thought,
        ),
  ]
}

function idOf(format: Format, index: number): string {
  if (format.ids === "nine") return `note0000${index}`
  return format.ids === "ordinal" ? String(index) : `call_${index}`
}

function apiReplies(format: Format): Reply[] {
  const bodyOf = (calls: Calls, content: string): unknown =>
    format.apiOnly === "claude"
      ? {
          content: [
            ...(content === "" ? [] : [{ type: "text", text: content }]),
            ...calls.map((call, index) => ({
              type: "tool_use",
              id: `toolu_${index}`,
              name: call.name,
              input: call.arguments,
            })),
          ],
        }
      : {
          choices: [
            {
              finish_reason: "tool_calls",
              message: {
                role: "assistant",
                content,
                tool_calls: calls.map((call, index) => ({
                  id: `call_${index}`,
                  type: "function",
                  function: { name: call.name, arguments: JSON.stringify(call.arguments) },
                })),
              },
            },
          ],
        }
  const reply = (name: string, calls: Calls, content: string): Reply => ({
    family: format.id,
    name,
    tools: TOOLS,
    raw: "",
    body: bodyOf(calls, content),
    expected_calls: calls,
    expected_content: content,
    expected_reasoning: "",
  })
  return [
    reply("a sentence and a call", plain, "I keep that."),
    reply("two calls with difficult values", difficult, ""),
    reply("a call without arguments", difficult.slice(1), ""),
  ]
}

import { isDeepStrictEqual } from "node:util"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anyCharacter } from "../../../.ci/any-character.ts"
import type { ToolDefinition } from "@toolwright/toolbox"
import { collectReply, createParser, type AccountingParser } from "./engine/parser.ts"
import { ACCEPTED_EVERYWHERE, FORMATS } from "./formats/index.ts"
import { coalesce, cutAt, randomFrom, toolOf } from "./fixtures/support.ts"
import { formatterOf, type ParseEvent } from "./index.ts"
import { marksOfFormat } from "./fixtures/marks.ts"

const TOOLS: ToolDefinition[] = [
  toolOf({
    name: "edit",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        count: { type: "integer" },
        lines: { type: "array", items: { type: "string" } },
        options: { type: "object", properties: { deep: { type: ["boolean", "null"] } } },
      },
      required: ["path"],
    },
  }),
  toolOf({ name: "f", parameters: { type: "object", properties: {} } }),
]

const CALLS = [
  { id: "", name: "edit", arguments: { path: "a.ts", count: 3, lines: ["x", "y}"], options: { deep: null } } },
  { id: "", name: "f", arguments: {} },
]

const formats = FORMATS.filter((format) => format.apiOnly === undefined)

function parse(
  format: (typeof FORMATS)[number],
  pieces: readonly string[],
): { events: ParseEvent[]; parser: AccountingParser } {
  const parser = createParser(format, format.generic === true ? [] : ACCEPTED_EVERYWHERE, { tools: TOOLS })
  const events: ParseEvent[] = []
  for (const piece of pieces) events.push(...parser.push(piece))
  events.push(...parser.end())
  return { events: coalesce(events), parser }
}

/** `toEqual`, whose long way of comparing is gone only where a shorter one finds a difference. */
function same(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

/**
 * Content and reasoning are exactly their stretches of the text; calls and unrepaired problems have a stretch each;
 * nothing is left.
 */
function account(text: string, { events, parser }: ReturnType<typeof parse>): void {
  const spans = parser.spans()
  let at = 0
  const said = { content: "", reasoning: "", call: "", problem: "", framing: "" }
  for (const span of spans) {
    if (span.start !== at || span.end <= span.start) expect.fail(`stretches do not join: ${JSON.stringify(spans)}`)
    said[span.kind] += text.slice(span.start, span.end)
    at = span.end
  }
  same(at, text.length)
  const of = (type: ParseEvent["type"]) => events.filter((event) => event.type === type)
  const { content, reasoning } = collectReply(events)
  same({ content, reasoning }, { content: said.content, reasoning: said.reasoning })
  same(spans.filter((span) => span.kind === "call").length, of("call-end").length)
  for (const span of spans.filter((candidate) => candidate.kind === "problem")) {
    const told = events.some(
      (event) =>
        event.type === "problem" &&
        event.problem.at <= span.start &&
        event.problem.at + event.problem.text.length >= span.end,
    )
    if (!told) expect.fail(`no problem tells of ${JSON.stringify(text.slice(span.start, span.end))}`)
  }
}

it("what a superseded call said of the text before it is taken back with it", () => {
  const call = '{"tool": "f", "args": {}}'
  for (const text of [`"${call}\n${call}</think>\`\`\`json${call}`, `"${call}\n</think>a`])
    for (const format of FORMATS.filter(({ generic }) => generic === true)) account(text, parse(format, [text]))
})

describe("no text breaks a parser or is lost in it", () => {
  it.each(formats.map((format) => [format.id, format] as const))("%s", (_id, format) => {
    const printed = formatterOf(format).printCalls(CALLS, TOOLS)
    const marks = [
      ...marksOfFormat(format),
      "{",
      "}",
      "[",
      "]",
      '"',
      "\n",
      "<",
      ">",
      '{"name": "f", "arguments": {',
      "edit",
      "\ud83d",
      "\udc00",
      " ",
      "```json\n",
      "<tool_call>",
      "</think>",
      "\\",
    ]
    const piece = fc.oneof(
      fc.constantFrom(...marks),
      fc.constantFrom(printed, printed.slice(0, printed.length >> 1), printed.slice(printed.length >> 1)),
      fc.string({ unit: anyCharacter, maxLength: 8 }),
    )
    const reply = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(""))
    const spliced = fc
      .tuple(
        fc.nat(printed.length),
        fc.nat(printed.length),
        fc.oneof(fc.constantFrom(...marks), fc.string({ maxLength: 4 })),
      )
      .map(([from, to, middle]) => printed.slice(0, from) + middle + printed.slice(to))
    fc.assert(
      fc.property(fc.oneof(reply, spliced), fc.nat(), (text, seed) => {
        const whole = parse(format, [text])
        account(text, whole)
        const cut = parse(format, cutAt(text, randomFrom(seed)))
        same(cut.events, whole.events)
        same(parse(format, text.split("")).events, whole.events)
        for (const event of whole.events) {
          if (event.type === "call-end") {
            const json = whole.events
              .map((other) => (other.type === "args-delta" && other.index === event.index ? other.text : ""))
              .join("")
            same(JSON.parse(json), event.call.arguments)
          }
        }
      }),
      { numRuns: Number(process.env.TOOLWRIGHT_FUZZ_RUNS ?? 40) },
    )
  })
})

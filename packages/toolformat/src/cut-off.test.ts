import { describe, expect, it } from "vitest"
import { isDeepStrictEqual } from "node:util"
import { readSample, toolOf, type WireTool } from "./fixtures/support.ts"
import { FORMATS } from "./formats/index.ts"
import { formatterById, formatterOf, type ToolFormatter } from "./index.ts"

/** A reply that ends inside a call never gives a call with fewer arguments, wherever it ends. */

const TOOLS = [
  toolOf({
    name: "ferry",
    parameters: {
      type: "object",
      properties: {
        port: { type: "string" },
        cars: { type: "integer" },
        decks: { type: "array", items: { type: "string" } },
      },
      required: ["port"],
    },
  }),
  toolOf({ name: "ferry_times", parameters: { type: "object", properties: { day: { type: "string" } } } }),
  toolOf({ name: "tide" }),
]
const CALLS = [
  { id: "", name: "ferry", arguments: { port: 'Bergen "B" <1>', cars: 12, decks: ["a", "b, c"] } },
  { id: "", name: "ferry_times", arguments: { day: "2" } },
  { id: "", name: "tide", arguments: {} },
]

interface Sample {
  family: string
  name: string
  tools: WireTool[]
  raw: string
  body?: unknown
}

/** Where the same is tried in other ways too, every third place, others each time; all by `npm run test:whole`. */
const STEP = process.env.TOOLWRIGHT_WHOLE === undefined ? 3 : 1

/** @returns at how many places the reply ended inside a call */
function everyPrefix(
  formatter: ToolFormatter,
  text: string,
  tools?: ReturnType<typeof toolOf>[],
  { first, step } = { first: 1, step: 1 },
): number {
  const options = tools === undefined ? {} : { tools }
  const whole = formatter.parse(text, options).calls.map(({ name, arguments: args }) => ({ name, arguments: args }))
  let inside = 0
  for (let length = first; length < text.length; length += step) {
    const reply = formatter.parse(text.slice(0, length), options)
    const calls = reply.calls.map(({ name, arguments: args }) => ({ name, arguments: args }))
    const where = (): string => JSON.stringify(text.slice(Math.max(0, length - 120), length))
    if (!isDeepStrictEqual(calls, whole.slice(0, calls.length)))
      expect.fail(`other calls than the whole reply has, at ${where()}: ${JSON.stringify(calls)}`)
    const told = reply.problems.filter((problem) => problem.kind === "unterminated-call")
    const isCut = told.some((problem) => !problem.repaired)
    if (isCut) inside++
    if (isCut && told.length > 1) expect.fail(`told twice at ${where()}: ${JSON.stringify(told)}`)
  }
  return inside
}

const SAMPLES = Map.groupBy(
  readSample<Sample>("replies.jsonl").filter(({ raw, body }) => body === undefined && raw.length < 3_000),
  ({ family }) => family,
)

describe("a reply that ends anywhere", () => {
  const formats = FORMATS.filter((format) => format.apiOnly === undefined)
  it.each(formats.map((format) => [format.id, format] as const))("%s: as printed", (_id, format) => {
    const formatter = formatterOf(format)
    const inside = everyPrefix(formatter, `Let me see.\n${formatter.printCalls(CALLS, TOOLS)}`, TOOLS)
    expect(inside, "places at which a call was cut off").toBeGreaterThan(10)
    everyPrefix(formatter, formatter.printCalls(CALLS, TOOLS), undefined, { first: 1, step: STEP })
  })

  it.each(formats.map((format) => [format.id] as const))("%s: as sampled", (id) => {
    for (const [at, { family, tools, raw }] of (SAMPLES.get(id) ?? []).entries())
      everyPrefix(formatterById(family), raw, tools.map(toolOf), { first: 1 + (at % STEP), step: STEP })
  })
})

describe("what is told of a call that was cut off", () => {
  it.each([
    ["qwen3-xml", "<tool_call>\n<function=ferry>\n<parameter=cars>\n2\n</parameter>\n"],
    ["glm45", "<tool_call>ferry\n<arg_key>cars</arg_key>\n<arg_value>2</arg_value>\n"],
    ["hermes", '<tool_call>\n{"name": "ferry", "arguments": {"cars": 2'],
    ["mistral-v11", '[TOOL_CALLS]ferry[ARGS]{"cars": 2,'],
    ["pythonic", "[ferry(cars=2, "],
    ["gemma4", "<|tool_call>call:ferry{cars:2,"],
    ["harmony", '<|channel|>commentary to=functions.ferry <|constrain|>json<|message|>{"cars": 2'],
    [
      "minimax-m3",
      ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="ferry">]<]minimax[>[<cars>2]<]minimax[>[</cars>',
    ],
  ])("%s: what is missing", (format, text) => {
    const { calls, problems } = formatterById(format).parse(text, { tools: TOOLS })
    expect(calls).toEqual([])
    expect(problems.map(({ kind }) => kind)).toEqual(["unterminated-call"])
    expect(problems[0]?.message).toContain("of 'ferry'; without port; decks could still have come")
  })
})

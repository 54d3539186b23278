import { createMatcher, matchesGbnf, schemaToGrammar } from "@toolwright/logits"
import type { JsonObject } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { toolOf } from "./fixtures/support.ts"
import { formatterOf, structuralTagFor } from "./index.ts"

const WEATHER = toolOf({
  name: "get_weather",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  },
})
const PING = toolOf({ name: "ping" })
const TOOLS = [WEATHER, PING]

/** A reader of structural tags: where in the text what begins at `from` may end. */
function ends(node: JsonObject, text: string, from: number): number[] {
  const list = (key: string): JsonObject[] => (node[key] ?? []) as JsonObject[]
  const string = (key: string): string => String(node[key])
  switch (node["type"]) {
    case "structural_tag":
      return ends(node["format"] as JsonObject, text, from)
    case "const_string":
      return text.startsWith(string("value"), from) ? [from + string("value").length] : []
    case "any_text":
      return places(text, from)
    case "json_schema": {
      const matcher = createMatcher(schemaToGrammar(node["json_schema"] as JsonObject))
      return places(text, from).filter((to) => {
        matcher.reset()
        return matcher.accept(text.slice(from, to)) && matcher.isComplete()
      })
    }
    case "grammar":
      return places(text, from).filter((to) => matchesGbnf(string("grammar"), text.slice(from, to)))
    case "tag": {
      if (!text.startsWith(string("begin"), from)) return []
      const inside = ends(node["content"] as JsonObject, text, from + string("begin").length)
      return inside.flatMap((to) => (text.startsWith(string("end"), to) ? [to + string("end").length] : []))
    }
    case "or":
      return list("elements").flatMap((one) => ends(one, text, from))
    case "sequence":
      return list("elements").reduce((at, one) => at.flatMap((to) => ends(one, text, to)), [from])
    case "tags_with_separator": {
      const one = list("tags").flatMap((tag) => ends(tag, text, from))
      const more = one.flatMap((to) =>
        text.startsWith(string("separator"), to) && to > from ? ends(node, text, to + string("separator").length) : [],
      )
      return [...new Set([...one, ...(node["stop_after_first"] === true ? [] : more)])]
    }
    case "triggered_tags": {
      const begins = (node["triggers"] as string[]).map((mark) => text.indexOf(mark, from)).filter((at) => at >= 0)
      const first = Math.min(...begins)
      if (begins.length === 0) return places(text, from)
      const after = list("tags").flatMap((tag) => ends(tag, text, first))
      return after.flatMap((to) => (node["stop_after_first"] === true ? [to] : [to, ...ends(node, text, to)]))
    }
    default:
      throw new Error(`${String(node["type"])} is unknown`)
  }
}

const places = (text: string, from: number): number[] =>
  Array.from({ length: text.length - from + 1 }, (_, index) => from + index)

const takes = (tag: JsonObject, text: string): boolean => ends(tag, text, 0).includes(text.length)

const formats = FORMATS.filter((format) => format.apiOnly === undefined)

describe.each(formats.map((format) => [format.id, format] as const))("%s as a structural tag", (_id, format) => {
  const formatter = formatterOf(format)
  const id = format.ids === "ordinal" ? "0" : "call00000"
  const print = (...calls: [string, Record<string, unknown>][]): string =>
    formatter.printCalls(
      calls.map(([name, args]) => ({ id, name, arguments: args as never })),
      TOOLS,
    )

  test("has what the family prints, held to each tool's schema, and free text before it", () => {
    const alone = structuralTagFor(format, TOOLS, { mode: "call" }).tag
    const either = structuralTagFor(format, TOOLS, {}).tag
    const one = print(["get_weather", { city: "Bern", days: 3 }])
    const two = print(["get_weather", { city: "Bern" }], ["ping", {}])
    for (const tag of [alone, either]) {
      expect(takes(tag, one)).toBe(true)
      expect(takes(tag, two)).toBe(true)
    }
    expect(takes(alone, print(["get_weather", { city: "Bern", days: "many" }]))).toBe(false)
    expect(takes(alone, print(["other", {}]))).toBe(false)
    expect(takes(alone, "Just text.")).toBe(false)
    expect(takes(either, "Just text.")).toBe(true)
    expect(JSON.parse(JSON.stringify(alone))).toEqual(alone)
  })
})

test("reasoning may come first, and a refused schema leaves its tool free", () => {
  const picky = toolOf({
    name: "picky",
    parameters: {
      type: "object",
      properties: { a: { allOf: [{ type: "string" }, { type: "null" }] } },
      required: ["a"],
    },
  })
  const { tag, refused } = structuralTagFor("hermes", [PING, picky], { mode: "call", reasoning: true })
  expect(refused).toEqual([expect.objectContaining({ tool: "picky" })])
  const call = '<tool_call>\n{"name": "picky", "arguments": {"a": 1}}\n</tool_call>'
  expect([takes(tag, call), takes(tag, `<think>\nhm\n</think>${call}`), takes(tag, `hm${call}`)]).toEqual([
    true,
    true,
    false,
  ])
})

import { createGbnfMatcher, createMatcher, schemaToGrammar } from "@toolwright/logits"
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

/** What reads a text piece by piece: what it has refused once no further text makes good. */
interface Follower {
  accept(piece: string): boolean
  isComplete(): boolean
}

/** Where what begins at `from` may end. */
function endsOf(follower: Follower, text: string, from: number): number[] {
  const found = follower.isComplete() ? [from] : []
  let at = from
  for (const character of text.slice(from)) {
    if (!follower.accept(character)) break
    at += character.length
    if (follower.isComplete()) found.push(at)
  }
  return found
}

/** A follower of a schema or a grammar, which are read once, from its beginning each time. */
function followers(node: JsonObject): () => Follower {
  if (node["type"] === "json_schema") {
    const matcher = createMatcher(schemaToGrammar(node["json_schema"] as JsonObject))
    return () => {
      matcher.reset()
      return matcher
    }
  }
  const matcher = createGbnfMatcher(String(node["grammar"]))
  return () => {
    const own = matcher.clone()
    return { accept: (piece) => own.acceptText(piece), isComplete: () => own.complete }
  }
}

/** A reader of structural tags: whether a text is one that the tag has. */
function readerOf(tag: JsonObject): (text: string) => boolean {
  const compiled = new Map<JsonObject, () => Follower>()
  const followerOf = (node: JsonObject): Follower => {
    if (!compiled.has(node)) compiled.set(node, followers(node))
    return compiled.get(node)!()
  }
  return (text) => {
    // What a part says of a place is asked for from many others.
    const known = new Map<JsonObject, Map<number, number[]>>()
    const ends = (node: JsonObject, from: number): number[] => {
      const places = known.get(node) ?? new Map<number, number[]>()
      known.set(node, places)
      const found = places.get(from) ?? endsIn(node, text, { from, ends, followerOf })
      places.set(from, found)
      return found
    }
    return ends(tag, 0).includes(text.length)
  }
}

interface Reading {
  from: number
  ends(node: JsonObject, from: number): number[]
  followerOf(node: JsonObject): Follower
}

/** Where in the text what begins at `from` may end. */
function endsIn(node: JsonObject, text: string, { from, ends, followerOf }: Reading): number[] {
  const list = (key: string): JsonObject[] => (node[key] ?? []) as JsonObject[]
  const string = (key: string): string => String(node[key])
  switch (node["type"]) {
    case "structural_tag":
      return ends(node["format"] as JsonObject, from)
    case "const_string":
      return text.startsWith(string("value"), from) ? [from + string("value").length] : []
    case "any_text":
      return places(text, from)
    case "json_schema":
    case "grammar":
      return endsOf(followerOf(node), text, from)
    case "tag": {
      if (!text.startsWith(string("begin"), from)) return []
      const inside = ends(node["content"] as JsonObject, from + string("begin").length)
      return inside.flatMap((to) => (text.startsWith(string("end"), to) ? [to + string("end").length] : []))
    }
    case "or":
      return list("elements").flatMap((one) => ends(one, from))
    case "sequence":
      return list("elements").reduce((at, one) => at.flatMap((to) => ends(one, to)), [from])
    case "tags_with_separator": {
      const one = list("tags").flatMap((tag) => ends(tag, from))
      const more = one.flatMap((to) =>
        text.startsWith(string("separator"), to) && to > from ? ends(node, to + string("separator").length) : [],
      )
      return [...new Set([...one, ...(node["stop_after_first"] === true ? [] : more)])]
    }
    case "triggered_tags": {
      const begins = (node["triggers"] as string[]).map((mark) => text.indexOf(mark, from)).filter((at) => at >= 0)
      const first = Math.min(...begins)
      if (begins.length === 0) return places(text, from)
      const after = list("tags").flatMap((tag) => ends(tag, first))
      return after.flatMap((to) => (node["stop_after_first"] === true ? [to] : [to, ...ends(node, to)]))
    }
    default:
      throw new Error(`${String(node["type"])} is unknown`)
  }
}

const places = (text: string, from: number): number[] =>
  Array.from({ length: text.length - from + 1 }, (_, index) => from + index)

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
    const [takesAlone, takesEither] = [readerOf(alone), readerOf(either)]
    for (const takes of [takesAlone, takesEither]) {
      expect(takes(one)).toBe(true)
      expect(takes(two)).toBe(true)
    }
    expect(takesAlone(print(["get_weather", { city: "Bern", days: "many" }]))).toBe(false)
    expect(takesAlone(print(["other", {}]))).toBe(false)
    expect(takesAlone("Just text.")).toBe(false)
    expect(takesEither("Just text.")).toBe(true)
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
  const takes = readerOf(tag)
  expect([takes(call), takes(`<think>\nhm\n</think>${call}`), takes(`hm${call}`)]).toEqual([true, true, false])
})

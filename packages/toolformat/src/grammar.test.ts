import { checkGbnf, createMatcher, grammarToGbnf } from "@toolwright/logits"
import type { ToolCall } from "@toolwright/toolbox"
import { describe, expect, it } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { hasData, readJsonLines, readSample, toolOf, type WireTool } from "./fixtures/support.ts"
import { formatterOf, grammarFor } from "./index.ts"

const formats = FORMATS.filter((format) => format.apiOnly === undefined)

const WEATHER = toolOf({
  name: "get_weather",
  parameters: {
    type: "object",
    properties: {
      city: { type: "string" },
      days: { type: "integer" },
      units: { enum: ["celsius", "fahrenheit"] },
      tags: { type: "array", items: { type: "string" } },
    },
    required: ["city"],
  },
})
const PING = toolOf({ name: "ping" })
const TOOLS = [WEATHER, PING]

function accepts(grammar: ReturnType<typeof grammarFor>, text: string): boolean {
  const matcher = createMatcher(grammar)
  return matcher.accept(text) && matcher.isComplete()
}

describe("the grammar of a format", () => {
  it.each(formats.map((format) => [format.id, format] as const))(
    "%s: has what is printed, and no call of a tool that is not there",
    (_id, format) => {
      const formatter = formatterOf(format)
      const call = (name: string, args: ToolCall["arguments"]) => ({ id: "call00000", name, arguments: args })
      const own = format.ids === "ordinal" ? "0" : "call00000"
      const good = [
        call("get_weather", { city: "Zürich <b>", days: 3, units: "celsius", tags: ["a", "b c"] }),
        call("ping", {}),
      ].map((each) => ({ ...each, id: own }))
      const both = grammarFor(format, TOOLS, { mode: "call" })
      expect(accepts(both, formatter.printCalls(good.slice(0, 1), TOOLS))).toBe(true)
      expect(accepts(both, formatter.printCalls(good, TOOLS))).toBe(true)
      expect(accepts(both, formatter.printCalls([{ ...call("get_rain", {}), id: own }], TOOLS))).toBe(false)
      expect(
        accepts(
          both,
          formatter.printCalls([{ ...call("get_weather", { city: "x", units: "kelvin" }), id: own }], TOOLS),
        ),
      ).toBe(false)
      expect(accepts(both, "Just text.")).toBe(false)
      const either = grammarFor(format, TOOLS)
      expect(accepts(either, "Just text.")).toBe(true)
      expect(accepts(either, formatter.printCalls(good, TOOLS))).toBe(true)
      for (const grammar of [both, either]) expect(checkGbnf(grammarToGbnf(grammar))).toEqual([])
    },
  )

  it("says why there is none", () => {
    expect(() => grammarFor("claude", TOOLS)).toThrowError(expect.objectContaining({ code: "NO_CALL_SYNTAX" }))
    expect(() => grammarFor("hermes", [])).toThrowError(expect.objectContaining({ code: "NO_TOOLS" }))
  })
})

interface ToolSet {
  source: string
  tools: WireTool[]
  tests: { data: { name: string; arguments: ToolCall["arguments"] }; valid: boolean }[]
}

/** Of the tool sets outside every 97th; more with TOOLWRIGHT_FULL_LAW=1. */
const STEP = process.env.TOOLWRIGHT_FULL_LAW === "1" ? 7 : 97

describe("what is printed is in the grammar", () => {
  const recorded = hasData("bfcl.jsonl")
    ? readJsonLines<ToolSet>("bfcl.jsonl").filter((_, index) => index % STEP === 0)
    : []
  const sets = [...readSample<ToolSet>("tool-sets.jsonl").filter((_, index) => index % 4 === 0), ...recorded]
  it.each(formats.map((format) => [format.id, format] as const))("%s", (_id, format) => {
    const formatter = formatterOf(format)
    for (const { source, tools: wire, tests } of sets) {
      const tools = wire.map(toolOf)
      const calls = tests
        .filter((test) => test.valid)
        .map(({ data }) => ({
          id: format.ids === "ordinal" ? "0" : "call00000",
          name: data.name,
          arguments: data.arguments,
        }))
      const grammar = grammarFor(format, tools, { mode: "call" })
      for (const call of calls) {
        const text = formatter.printCalls([call], tools)
        expect(accepts(grammar, text), `${source}\n${text}`).toBe(true)
      }
    }
  })
})

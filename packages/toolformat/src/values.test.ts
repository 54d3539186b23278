import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { anyCharacter } from "../../../.ci/any-character.ts"
import type { Format } from "./engine/syntax.ts"
import { FORMATS } from "./formats/index.ts"
import { cutAt, eventsOf, randomFrom, toolOf } from "./fixtures/support.ts"
import { marksOfFormat } from "./fixtures/marks.ts"
import { formatterOf } from "./index.ts"

const TOOL = toolOf({
  name: "edit_file",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string" },
      maybe: { type: ["string", "null"] },
      count: { type: "integer" },
      ratio: { type: "number" },
      on: { type: "boolean" },
      lines: { type: "array", items: { type: "string" } },
      rows: {
        type: "array",
        items: { type: "object", properties: { id: { type: "integer" }, label: { type: "string" } } },
      },
      options: { type: "object", additionalProperties: {} },
      either: { anyOf: [{ type: "integer" }, { type: "string" }] },
    },
  },
})

/**
 * Families that write text as it is cannot write text that contains their own marks: nothing could tell the two apart.
 */
function isRaw(format: Format): boolean {
  return ["parameters", "nested"].includes(format.calls[0]?.codec ?? "")
}

describe("any values survive being printed and read", () => {
  it.each(FORMATS.filter((format) => format.apiOnly === undefined).map((format) => [format.id, format] as const))(
    "%s",
    (_id, format) => {
      const marks = isRaw(format) ? [] : marksOfFormat(format)
      const unit = fc.oneof(
        { weight: 4, arbitrary: fc.string({ unit: anyCharacter, maxLength: 12 }) },
        fc.constantFrom(
          "\n",
          "\n\n",
          "  ",
          "\t",
          '"',
          "'",
          "\\",
          "{",
          "}",
          "</div>",
          "<b>",
          "a < b",
          "```",
          "null",
          "True",
          "7",
          "[]",
          "\u2028",
          "\ud83d",
          ...marks,
        ),
      )
      const text = fc.array(unit, { maxLength: 4 }).map((units) => units.join(""))
      const json = fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null)
      const args = fc.record(
        {
          text,
          maybe: fc.oneof(
            text.filter((value) => !/^\s*(null|none)?\s*$/i.test(value)),
            fc.constant(null),
          ),
          count: fc.integer(),
          ratio: fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value)),
          on: fc.boolean(),
          lines: fc.array(text, { maxLength: 3 }),
          rows: fc.array(fc.record({ id: fc.integer(), label: text }, { requiredKeys: [] }), { maxLength: 3 }),
          options: fc.dictionary(
            fc.string({ maxLength: 6 }).filter((key) => key !== "__proto__"),
            json,
            { maxKeys: 3 },
          ),
          either: fc.oneof(fc.integer(), text),
        },
        { requiredKeys: [] },
      )
      const formatter = formatterOf(format)
      fc.assert(
        fc.property(fc.array(args, { minLength: 1, maxLength: 3 }), fc.nat(), (list, seed) => {
          const calls = list.map((each) => ({
            id: "",
            name: TOOL.name,
            arguments: JSON.parse(JSON.stringify(each)) as Record<string, unknown>,
          }))
          const printed = formatter.printCalls(calls, [TOOL])
          const events = eventsOf(formatter, cutAt(printed, randomFrom(seed)), { tools: [TOOL] })
          expect(
            events.flatMap((event) => (event.type === "call-end" ? [event.call.arguments] : [])),
            printed,
          ).toEqual(calls.map((call) => call.arguments))
          expect(
            events.filter((event) => event.type === "problem" || event.type === "text-delta"),
            printed,
          ).toEqual([])
        }),
        { numRuns: Number(process.env.TOOLWRIGHT_FUZZ_RUNS ?? 20) },
      )
    },
  )
})

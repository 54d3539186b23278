import { matchesGbnf } from "@toolwright/logits"
import { describe, expect, test } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { toolOf } from "./fixtures/support.ts"
import { formatterById, formatterOf, grammarFor, grammarText } from "./index.ts"

const DAYS = toolOf({
  name: "get_days",
  parameters: { type: "object", properties: { days: { type: "integer" } }, required: ["days"] },
})
/** No value fits. */
const NOTHING = toolOf({
  name: "nothing",
  parameters: {
    type: "object",
    properties: { text: { allOf: [{ type: "string" }, { type: "integer" }] } },
    required: ["text"],
  },
})
/** It can be checked, and takes too many rules to be written. */
const TOO_MUCH = toolOf({
  name: "too_much",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string", pattern: "^(a|b)*a(a|b)$", maxLength: 3000 },
    },
    required: ["text"],
  },
})
const formats = FORMATS.filter((format) => format.apiOnly === undefined)

describe.each(formats.map((format) => [format.id, format] as const))(
  "%s: a tool whose schema is refused",
  (_id, format) => {
    const formatter = formatterOf(format)
    const id = format.ids === "ordinal" ? "0" : "call00000"
    const print = (name: string, args: Record<string, unknown>, tools = [DAYS, NOTHING, TOO_MUCH]): string =>
      formatter.printCalls([{ id, name, arguments: args as never }], tools)

    test("may be called with anything, and costs no other tool its grammar", () => {
      const { text, refused } = grammarText(format, [DAYS, NOTHING, TOO_MUCH], { mode: "call" })
      expect(refused.map(({ tool }) => tool).toSorted()).toEqual(["nothing", "too_much"])
      for (const { reason } of refused) expect(reason).not.toBe("")
      const accepts = (reply: string): boolean => matchesGbnf(text, reply)
      expect(accepts(print("get_days", { days: 3 }))).toBe(true)
      expect(accepts(print("get_days", { days: "many" }))).toBe(false)
      expect(accepts(print("nothing", { text: "a" }))).toBe(true)
      expect(accepts(print("too_much", { text: "x" }))).toBe(true)
      expect(accepts(print("other", {}))).toBe(false)
    })
  },
)

test("a reference that encodes nothing leads nowhere", () => {
  const odd = toolOf({ name: "odd", parameters: { type: "object", properties: { a: {} }, $ref: "#/$defs/%" } })
  const { calls } = formatterById("qwen3-xml").parse(
    "<tool_call>\n<function=odd>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>",
    {
      tools: [odd],
    },
  )
  expect(calls).toMatchObject([{ name: "odd" }])
})

test("who does not listen gets no grammar that is wider than it says", () => {
  expect(() => grammarFor("hermes", [DAYS, NOTHING])).toThrowError(expect.objectContaining({ code: "SCHEMA_REFUSED" }))
})

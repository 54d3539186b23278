import { describe, expect, it } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { marksOfFormat } from "./fixtures/marks.ts"
import { toolOf } from "./fixtures/support.ts"
import { formatterOf } from "./index.ts"

const TOOL = toolOf({ name: "write", parameters: { type: "object", properties: { text: { type: "string" } } } })
const MEGABYTE = 2 ** 20
/** Characters of marks alone; many times more of them by `npm run test:whole`. */
const LENGTH_OF_MARKS = process.env.TOOLWRIGHT_WHOLE === undefined ? 2_000 : 10_000

describe("long lines end, and stay whole", () => {
  it.each(FORMATS.filter((format) => format.apiOnly === undefined).map((format) => [format.id, format] as const))(
    "%s",
    (_id, format) => {
      const formatter = formatterOf(format)
      const line = "a line of text, x; ".repeat(Math.ceil(MEGABYTE / 19))
      expect(formatter.parse(line, { tools: [TOOL] })).toMatchObject({ calls: [], problems: [], content: line })
      const [call] = formatter.parse(
        formatter.printCalls([{ id: "", name: "write", arguments: { text: line } }], [TOOL]),
        {
          tools: [TOOL],
        },
      ).calls
      expect(call?.arguments.text === line).toBe(true)
      for (const mark of new Set(marksOfFormat(format))) {
        const { calls } = formatter.parse(mark.repeat(Math.ceil(LENGTH_OF_MARKS / mark.length)), { tools: [TOOL] })
        expect(calls.length).toBeLessThanOrEqual(LENGTH_OF_MARKS)
      }
    },
  )

  it("as does deep nesting, which is refused", () => {
    for (const unit of ["[", '{"a":', "[["]) {
      const text = `<tool_call>{"name": "write", "arguments": {"text": ${unit.repeat(200_000)}`
      expect(formatterOf(FORMATS[0]!).parse(text).problems).toMatchObject([
        { kind: "invalid-arguments", repaired: false },
      ])
    }
  })
})

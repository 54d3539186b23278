import { isDeepStrictEqual } from "node:util"
import { describe, expect, it } from "vitest"
import { FORMATS } from "./formats/index.ts"
import { hasData, readJsonLines, readSample, toolOf, type WireTool } from "./fixtures/support.ts"
import type { ToolCall } from "@toolwright/toolbox"
import { formatterOf } from "./index.ts"

interface ToolSet {
  source: string
  tools: WireTool[]
  tests: { data: { name: string; arguments: ToolCall["arguments"] }; valid: boolean }[]
}

const FILE = "bfcl.jsonl"
/** Of the tool sets outside, where they are there, every eleventh; all of them with TOOLWRIGHT_FULL_LAW=1. */
const STEP = process.env.TOOLWRIGHT_FULL_LAW === "1" ? 1 : 11

describe("what is printed is what is read", () => {
  const recorded = hasData(FILE) ? readJsonLines<ToolSet>(FILE).filter((_, index) => index % STEP === 0) : []
  const sets = [...readSample<ToolSet>("tool-sets.jsonl"), ...recorded]

  it.each(FORMATS.filter((format) => format.apiOnly !== "claude").map((format) => [format.id, format] as const))(
    "%s",
    (_id, format) => {
      const formatter = formatterOf(format)
      for (const { source, tools: wire, tests } of sets) {
        const tools = wire.map(toolOf)
        const calls = tests
          .filter((test) => test.valid)
          .map(({ data }) => ({ id: "", name: data.name, arguments: data.arguments }))
        for (const group of [calls.slice(0, 1), calls]) {
          if (group.length === 0) continue
          const text = formatter.printCalls(group, tools)
          const reply = formatter.parse(text, { tools })
          const { content, problems } = reply
          const read = {
            calls: reply.calls.map(({ name, arguments: args }) => ({ id: "", name, arguments: args })),
            content,
            problems,
          }
          const wanted = { calls: group, content: "", problems: [] }
          // Of so many replies `expect` looks at those alone that it has something to say of.
          if (!isDeepStrictEqual(read, wanted)) expect(read, `${source}\n${text}`).toEqual(wanted)
        }
      }
    },
  )
})

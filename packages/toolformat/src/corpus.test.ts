import { isDeepStrictEqual } from "node:util"
import { describe, expect, it } from "vitest"
import {
  cutAt,
  eventsOf,
  hasData,
  randomFrom,
  readJsonLines,
  readSample,
  toolOf,
  type WireTool,
} from "./fixtures/support.ts"
import { type ApiFormatter, formatterById, listFormats, type ParseEvent } from "./index.ts"

interface Record {
  family: string
  name: string
  tools: WireTool[]
  raw: string
  expected_calls: { name: string; arguments: unknown }[]
}

const FILE = "tool-calls.jsonl"
const sample = readSample<Sample>("replies.jsonl")

interface Sample extends Record {
  body?: unknown
  expected_content: string
  expected_reasoning: string
}

describe("the sample of replies in the repository", () => {
  it("has three replies of each format", () => {
    const counts = new Map<string, number>()
    for (const { family } of sample) counts.set(family, (counts.get(family) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual(Object.fromEntries(listFormats().map(({ id }) => [id, 3])))
  })

  it("gives calls, content and reasoning, each exactly, and no problem", () => {
    for (const { family, name, tools, raw, body, ...expected } of sample) {
      const formatter = formatterById(family)
      const whole =
        body === undefined
          ? formatter.parse(raw, { tools: tools.map(toolOf) })
          : {
              calls: (formatter as ApiFormatter).parseAPIResponse(body),
              content: expected.expected_content,
              reasoning: "",
              problems: [],
            }
      expect(
        {
          expected_calls: whole.calls.map((call) => ({ name: call.name, arguments: call.arguments })),
          expected_content: whole.content,
          expected_reasoning: whole.reasoning,
          problems: whole.problems,
        },
        `${family}: ${name}`,
      ).toEqual({ ...expected, problems: [] })
    }
  })
})

laws(
  "the sample",
  sample.filter(({ body }) => body === undefined),
  1,
)

describe.skipIf(!hasData(FILE))("recorded replies of every family (skipped without ../shared/data)", () => {
  laws("the records", hasData(FILE) ? readJsonLines<Record>(FILE) : [], 0.97)
})

/** @param required how many of the records with calls must come out exactly */
function laws(what: string, records: readonly Record[], required: number): void {
  describe(what, () => {
    it("gives the recorded calls, exact in name and arguments", () => {
      const figures = new Map<string, { exact: number; of: number }>()
      const misses: string[] = []
      for (const { family, name, tools, raw, expected_calls } of records) {
        const figure = figures.get(family) ?? { exact: 0, of: 0 }
        figures.set(family, figure)
        const { calls } = formatterById(family).parse(raw, { tools: tools.map(toolOf) })
        const exact = isDeepStrictEqual(
          calls.map((call) => ({ name: call.name, arguments: call.arguments })),
          expected_calls.map((call) => ({ name: call.name, arguments: call.arguments })),
        )
        if (expected_calls.length > 0) figure.of++
        if (expected_calls.length > 0 && exact) figure.exact++
        if (!exact) misses.push(`${family} ${name}: ${calls.length} calls instead of ${expected_calls.length}`)
      }
      const total = [...figures.values()].reduce(
        (sum, figure) => ({ exact: sum.exact + figure.exact, of: sum.of + figure.of }),
        { exact: 0, of: 0 },
      )
      if (required < 1)
        console.log([...figures].map(([family, { exact, of }]) => `${family} ${exact}/${of}`).join(", "))
      if (required < 1)
        console.log(
          `${total.exact} of ${total.of} records with calls exact; misses among all ${records.length}:\n` +
            `${misses.join("\n")}`,
        )
      expect(total.exact / total.of).toBeGreaterThanOrEqual(required)
    })

    it("gives the same events however the text is cut", () => {
      const random = randomFrom(20_261_121)
      for (const { family, name, tools, raw } of records) {
        const formatter = formatterById(family)
        const options = { tools: tools.map(toolOf) }
        const whole = eventsOf(formatter, [raw], options)
        // Of so many ways `expect` looks at those alone that it has something to say of.
        const same = (pieces: readonly string[], how: string): void => {
          const events = eventsOf(formatter, pieces, options)
          if (!isDeepStrictEqual(events, whole)) expect(events, `${name} ${how}`).toEqual(whole)
        }
        same(raw.split(""), "by characters")
        for (let cutting = 0; cutting < 20; cutting++) same(cutAt(raw, random), `cutting ${cutting}`)
      }
    })

    it("streams arguments whose deltas, joined, are the arguments", () => {
      for (const { family, name, tools, raw } of records) {
        const events = eventsOf(formatterById(family), raw.split(""), { tools: tools.map(toolOf) })
        for (const end of events.filter((event) => event.type === "call-end")) {
          expect(JSON.parse(argumentsText(events, end.index)), name).toEqual(end.call.arguments)
        }
      }
    })
  })
}

function argumentsText(events: readonly ParseEvent[], index: number): string {
  return events.map((event) => (event.type === "args-delta" && event.index === index ? event.text : "")).join("")
}

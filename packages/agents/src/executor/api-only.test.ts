import { formatterById, formatterOf, listFormats } from "@toolwright/toolformat"
import { describe, expect, test } from "vitest"
import { call, calls, echo, play } from "../testing/harness.ts"

const apiOnly = listFormats().filter((format) => format.apiOnly !== undefined)
const names = ["claude-sonnet-4-5", "anthropic/claude-3.5-haiku", "gpt-4o-mini"]
const text = { abilities: { nativeTools: false, grammar: false, jsonSchema: false } }
const generic = '```json\n{"tool": "look", "args": {"text": "a"}}\n```'

describe.each(names)("a model named %s, whose family has an API form alone", (modelName) => {
  test.each(["hybrid", "structured", "text"] as const)(
    "answers in words and calls, with tool calling %s",
    async (mode) => {
      const steps =
        mode === "text"
          ? [{ reply: `Let me look.\n${generic}` }, { reply: "It is a." }]
          : [{ reply: { text: "Let me look.", calls: [call("look", { text: "a" })] } }, { reply: "It is a." }]
      const { summary, events } = await play(steps, [echo("look")], { scripted: { modelName }, toolCalling: mode })
      expect(summary).toMatchObject({ outcome: "completed", message: "It is a.", calls: 1 })
      expect(events[0]).toMatchObject({ format: mode === "text" ? "generic" : "openai" })
    },
  )

  test("works where the server has no tool use of its own", async () => {
    const { summary, events } = await play([{ reply: generic }, { reply: "It is a." }], [echo("look")], {
      scripted: { modelName, ...text },
    })
    expect(summary).toMatchObject({ outcome: "completed", calls: 1 })
    expect(events[0]).toMatchObject({ format: "generic" })
  })

  test("works after the server refused its own tool use", async () => {
    const refusal = { reply: { error: { status: 400, message: "this model does not support tools" } } }
    const { summary } = await play([refusal, { reply: generic }, { reply: "done" }], [echo("look")], {
      scripted: { modelName, abilities: { nativeTools: true, grammar: false, jsonSchema: false } },
    })
    expect(summary).toMatchObject({ outcome: "completed", calls: 1 })
  })
})

test.each(apiOnly)("a format that is set and has an API form alone is no obstacle: $id", async (format) => {
  for (const abilities of [undefined, text.abilities]) {
    const { summary } = await play(
      [abilities === undefined ? calls(call("look")) : { reply: generic }, { reply: "done" }],
      [echo("look")],
      { formatter: formatterOf(format), ...(abilities === undefined ? {} : { scripted: { abilities } }) },
    )
    expect(summary).toMatchObject({ outcome: "completed", calls: 1 })
  }
})

test("native tool use is the API's form, whatever the model is named, unless a form is set", async () => {
  const formatOf = async (options: Parameters<typeof play>[2]) =>
    (await play([{ reply: "done" }], [echo("look")], options)).events[0]
  expect(await formatOf({ scripted: { modelName: "qwen2.5" } })).toMatchObject({ format: "openai" })
  expect(await formatOf({ formatter: formatterById("claude") })).toMatchObject({ format: "claude" })
})

test("errors of the server that only speak of tools change nothing about how they are offered", async () => {
  for (const message of ["the tools service is down", "context length exceeded: tools take 4000 tokens"]) {
    const { summary, events } = await play([{ reply: { error: { status: 400, message } } }], [echo("look")])
    expect(summary.outcome).toBe("failed")
    expect(events.filter(({ type }) => type === "delivery-fallback")).toEqual([])
  }
})

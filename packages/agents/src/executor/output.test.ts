import type { JsonSchema } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { call, calls, echo, play, type Steps } from "../testing/harness.ts"
import { readOutput } from "./output.ts"

const person: JsonSchema = {
  type: "object",
  properties: { name: { type: "string" }, arguments: { type: "object" } },
  required: ["name"],
}
const anna = '{"name": "Anna", "arguments": {}}'

function ask(steps: Steps, { tools = false, abilities = {} } = {}) {
  return play(steps, tools ? [echo("look")] : [], {
    request: { output: { schema: person }, withoutTools: !tools },
    scripted: { abilities: { nativeTools: true, grammar: false, jsonSchema: true, ...abilities } },
  })
}

describe("an answer in a form", () => {
  test("is a value, and JSON of it is no call, whatever its fields are called", async () => {
    const { summary, backend } = await ask([{ expect: { jsonSchema: true, tools: false }, reply: anna }])
    expect(summary).toMatchObject({ success: true, output: { name: "Anna" }, rounds: 1, calls: 0 })
    expect(backend.requests[0]?.messages[0]).toMatchObject({ content: expect.stringContaining('"required":["name"]') })
  })

  test("is held by a grammar where the server takes those alone", async () => {
    const { summary } = await ask([{ expect: { grammar: true }, reply: anna }], {
      abilities: { nativeTools: false, grammar: true, jsonSchema: false },
    })
    expect(summary).toMatchObject({ success: true, output: { name: "Anna" } })
  })

  test("comes after the work, without tools, where the model said it in words first", async () => {
    const { summary, events } = await ask(
      [
        { expect: { jsonSchema: false }, ...calls(call("look")) },
        { expect: { jsonSchema: false }, reply: "It is Anna." },
        { expect: { jsonSchema: true, tools: false }, reply: anna },
      ],
      { tools: true },
    )
    expect(summary).toMatchObject({ success: true, output: { name: "Anna" }, rounds: 3, calls: 1 })
    expect(events.filter(({ type }) => type === "nudge")).toMatchObject([{ reason: "output" }])
  })

  test("is taken as it is where the model gave it at once", async () => {
    const { summary } = await ask([calls(call("look")), { reply: '```json\n{"name": "Anna", "age": 3}\n```' }], {
      tools: true,
    })
    expect(summary).toMatchObject({ success: true, output: { name: "Anna" }, rounds: 2 })
  })

  test("is asked for once more where it does not fit, with what is wrong", async () => {
    const { summary, backend } = await ask([{ reply: '{"name": 5}' }, { reply: anna }])
    expect(summary).toMatchObject({ success: true, output: { name: "Anna" }, rounds: 2 })
    expect(backend.requests[1]?.messages.at(-1)).toMatchObject({ content: expect.stringContaining("name") })
  })

  test("that never fits is a failure, and no output", async () => {
    const { summary, events } = await ask([{ reply: "Anna", repeat: "always" }])
    expect(summary).toMatchObject({ success: false, outcome: "failed", rounds: 2 })
    expect(summary).not.toHaveProperty("output")
    expect(events.at(-1)).toMatchObject({ error: { code: "INVALID_OUTPUT" } })
  })

  test("is asked for in words where the server refuses to hold it", async () => {
    const refused = { error: { status: 400, message: "response_format is not supported" } }
    const { summary, events } = await ask([
      { reply: refused },
      { expect: { jsonSchema: false }, reply: "Anna" },
      { expect: { jsonSchema: false }, reply: anna },
    ])
    expect(summary).toMatchObject({ success: true, output: { name: "Anna" } })
    expect(events.filter(({ type }) => type === "delivery-fallback")).toHaveLength(1)
  })
})

test("what makes a value of the JSON has a say", async () => {
  const form = { schema: person, parse: (value: unknown) => Promise.resolve((value as { name: string }).name) }
  expect(await readOutput(anna, form)).toEqual({ value: "Anna" })
  const picky = { schema: person, parse: () => Promise.reject(new Error("name: too short")) }
  expect(await readOutput(anna, picky)).toEqual({ fault: "Your answer does not fit: name: too short" })
})

describe("a plain question", () => {
  test("is answered in words, without a word of tools and without a system message that says nothing", async () => {
    const { summary, backend } = await play([{ reply: "Paris" }], [echo("look")], { request: { withoutTools: true } })
    expect(summary).toMatchObject({ outcome: "completed", message: "Paris", calls: 0 })
    expect(backend.requests[0]).toMatchObject({ messages: [{ role: "user", content: "Do it" }] })
    expect(backend.requests[0]?.tools ?? []).toEqual([])
  })

  test("without an answer ends as such", async () => {
    const { summary } = await play([{ reply: "", repeat: "always" }], [], { request: { withoutTools: true } })
    expect(summary).toMatchObject({ outcome: "nothing-done", message: "The model gave no answer." })
  })
})

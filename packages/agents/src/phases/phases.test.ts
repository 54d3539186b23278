import { formatterOf, listFormats } from "@toolwright/toolformat"
import type { JsonSchema, RunEvent } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { call, calls, echo, play, registryOf, workshop } from "../testing/harness.ts"
import type { Phase } from "./phase.ts"
import { withoutCalls } from "./sanitise.ts"

const form: JsonSchema = {
  type: "object",
  properties: { files: { type: "array", items: { type: "string" } }, note: { type: "string" } },
  required: ["files"],
  additionalProperties: false,
}
const look = echo("look")
const write = echo("write", { effects: {} })
const phases: readonly Phase[] = [
  {
    name: "analyse",
    prompt: "Only look.",
    tools: registryOf(look),
    maxRounds: 3,
    handsOver: { artifact: "analysis", schema: form },
  },
  { name: "do", tools: registryOf(look, write), maxRounds: 4 },
]
const handOver = (files: string[], more: object = {}) => call("hand_over", { files, ...more })
const textOf = (request: { messages: readonly { content?: unknown }[] }) => JSON.stringify(request.messages)
const named = (events: readonly RunEvent[], type: RunEvent["type"]) => events.filter((event) => event.type === type)

describe("a run in phases", () => {
  test("each has its tools, prompt and rounds, and is told what was handed over and nothing else", async () => {
    const { events, summary, backend } = await play(
      [
        calls(call("look", { text: "SECRETLY SEEN" })),
        calls(handOver(["a.ts"], { note: "mind the gap" })),
        calls(call("write", { text: "b" })),
        { reply: "Done." },
      ],
      registryOf(look, write),
      { phases },
    )
    expect(summary).toMatchObject({
      outcome: "completed",
      message: "Done.",
      rounds: 4,
      artifacts: { analysis: { files: ["a.ts"], note: "mind the gap" } },
    })
    expect(backend.requests.map(({ tools }) => tools?.map((tool) => tool.function.name))).toEqual([
      ["look", "hand_over"],
      ["look", "hand_over"],
      ["look", "write", "read_result"],
      ["look", "write", "read_result"],
    ])
    const [first, , third] = backend.requests
    expect(first!.tools!.find((tool) => tool.function.name === "hand_over")!.function.parameters).toMatchObject(form)
    expect(textOf(first!)).toContain("phase 1 of 2, 'analyse'.\\nOnly look.")
    expect(textOf(third!)).toContain("mind the gap")
    expect(textOf(third!)).not.toContain("SECRETLY SEEN")
    expect(textOf(third!)).not.toContain("Only look.")
    const told = events.filter(({ type }) => type === "phase-start" || type === "phase-end")
    expect(told).toEqual([
      { type: "phase-start", phase: "analyse", index: 1, of: 2, maxRounds: 3, tools: ["look", "hand_over"] },
      {
        type: "phase-end",
        phase: "analyse",
        index: 1,
        of: 2,
        rounds: 2,
        artifact: { name: "analysis", value: { files: ["a.ts"], note: "mind the gap" } },
      },
      { type: "phase-start", phase: "do", index: 2, of: 2, maxRounds: 6, tools: ["look", "write", "read_result"] },
      { type: "phase-end", phase: "do", index: 2, of: 2, rounds: 2 },
    ])
  })

  test("what an earlier phase saw is looked up by the phase's name, and read by the call's id", async () => {
    const { backend } = await play(
      [
        calls(call("look", { text: "the whole story" })),
        calls(handOver([])),
        calls(call("read_result", { call_id: "analyse" })),
        calls(call("read_result", { call_id: "call_1_0" })),
        { reply: "Done." },
      ],
      registryOf(look, write),
      { phases },
    )
    const [, , third, fourth, fifth] = backend.requests
    expect(textOf(third!)).toContain('read_result with call_id \\"analyse\\" lists its calls')
    expect(textOf(fourth!)).toMatch(/call_1_0: look .*done/)
    expect(fifth!.messages.at(-1)!.content).toBe('{"text":"the whole story"}')
  })

  test("a hand-over that does not hold is told why, and the phase goes on within its rounds", async () => {
    const checked: Phase = {
      ...phases[0]!,
      completion: { requireToolUse: true },
      handsOver: {
        schema: form,
        check: (value) => ((value as { files: string[] }).files.length > 0 ? undefined : "name a file"),
      },
    }
    const { summary, backend, events } = await play(
      [calls(handOver([])), calls(call("look"), handOver(["a.ts"])), { reply: "Done." }],
      registryOf(look, write),
      { phases: [checked, phases[1]!] },
    )
    expect(textOf(backend.requests[1]!)).toContain("no tool has succeeded in this phase yet; name a file")
    expect(named(events, "phase-end")).toHaveLength(2)
    expect(summary).toMatchObject({ success: true, correctedFailures: 1 })
  })

  test("one that comes to nothing ends the run, which says which and why", async () => {
    const wrong = calls(call("hand_over", { note: "no files" }))
    const refused = await play([{ ...wrong, repeat: "always" }], registryOf(look, write), {
      phases,
      loops: { tell: 9, stop: 9 },
    })
    expect(refused.summary).toMatchObject({ outcome: "max-rounds", success: false, rounds: 3, phase: "analyse" })
    expect(refused.summary.message).toMatch(/^the phase 'analyse' failed: it did not end within its 3 rounds \(.*files/)
    expect(refused.events.at(-1)).toMatchObject({ error: { code: "PHASE_FAILED" } })
    const talks = await play([{ reply: "I would do it so.", repeat: "always" }], registryOf(look, write), {
      phases: [{ ...phases[0]!, maxRounds: 9 }, phases[1]!],
    })
    expect(talks.summary).toMatchObject({ outcome: "no-tool-use", phase: "analyse" })
    const second = await play(
      [calls(handOver([])), { ...calls(call("look")), repeat: "always" }],
      registryOf(look, write),
      {
        phases,
        loops: { tell: 9, stop: 9 },
      },
    )
    expect(second.summary).toMatchObject({
      outcome: "max-rounds",
      phase: "do",
      rounds: 5,
      artifacts: { analysis: { files: [] } },
    })
  })

  test("after the hand-over no call of the same reply is run, and those before it are", async () => {
    const { events } = await play(
      [calls(call("look", { text: "before" }), handOver([]), call("look", { text: "after" })), { reply: "Done." }],
      registryOf(look, write),
      { phases },
    )
    const ends = events.flatMap((event) => (event.type === "tool-end" ? [[event.name, event.result.success]] : []))
    expect(ends).toEqual([
      ["look", true],
      ["hand_over", true],
      ["look", false],
    ])
  })

  test("a phase that reads changes nothing, and what an agent promises is asked of its last phase", async () => {
    const { state, tools } = workshop()
    const list = registryOf(...tools)
    const { summary, backend } = await play(
      [
        calls(call("file", { content: "too early" }), call("hand_over", { summary: "I looked." })),
        calls(call("file", { content: "right" })),
        { reply: "TASK_COMPLETE" },
        calls(call("test")),
        { reply: "TASK_COMPLETE" },
      ],
      list,
      {
        phases: [{ name: "look", readOnly: true }, { name: "write" }],
        completion: { signal: "TASK_COMPLETE", requireValidation: true },
      },
    )
    expect(summary.success || summary.outcome === "completed-with-failures").toBe(true)
    expect(state.content).toBe("right")
    expect(textOf(backend.requests[0]!)).not.toContain("TASK_COMPLETE")
    expect(textOf(backend.requests[3]!)).toContain("validation has not passed since the last change")
  })

  test("one that hands over at the end answers with it", async () => {
    const { summary, events } = await play([calls(handOver(["x"]))], registryOf(look), {
      phases: [{ name: "only", handsOver: { artifact: "found", schema: form } }],
    })
    expect(summary).toMatchObject({ outcome: "completed", artifacts: { found: { files: ["x"] } }, rounds: 1 })
    expect(events.at(-1)!.type).toBe("run-end")
  })

  test("the rounds of the run bound all phases together", async () => {
    const { summary } = await play(
      [calls(handOver([])), { ...calls(call("look")), repeat: "always" }],
      registryOf(look, write),
      { phases, maxRounds: 2 },
    )
    expect(summary).toMatchObject({ outcome: "max-rounds", rounds: 2, phase: "do" })
  })

  test("phases that could not be are refused: none, two of a name, what is no object", async () => {
    const wrong: Phase[][] = [[], [phases[0]!, phases[0]!], [{ name: "a", handsOver: { schema: { type: "string" } } }]]
    for (const each of wrong)
      await expect(play([], registryOf(look), { phases: each })).rejects.toMatchObject({ code: "INVALID_AGENT" })
  })
})

describe("what is handed over", () => {
  const tools = [look]

  /** Of a tool of the run, and of one that is not there: what has marks is a call in either case. */
  test("holds no call of any family", () => {
    const kept = listFormats().flatMap((format) => {
      const formatter = formatterOf(format)
      if (format.apiOnly !== undefined) return []
      const text = formatter.printCalls([{ id: "c1", name: "look", arguments: { text: "deadbeef" } }], tools)
      const clean = String(withoutCalls(`what I found:\n${text}`, tools))
      return clean.includes("deadbeef") || !clean.includes("what I found") ? [format.id] : []
    })
    expect(kept).toEqual([])
    const foreign = '<tool_call>\n{"name": "no_such_tool", "arguments": {"text": "deadbeef"}}\n</tool_call>'
    expect(withoutCalls({ deep: [foreign] }, tools)).toEqual({ deep: ["(a tool call stood here and was left out)"] })
  })

  test("keeps data that only looks like one", () => {
    const data = { note: 'a = {"name": "Ada", "arguments": []}', list: ["x[0](1)", "<b>bold</b>"], count: 3 }
    expect(withoutCalls(data, tools)).toEqual(data)
  })
})

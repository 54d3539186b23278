import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createScriptedBackend } from "@toolwright/backends"
import { defineTool, type RunEvent, type RunSummary } from "@toolwright/toolbox"
import { beforeEach, describe, expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import { createToolwright } from "./toolwright.ts"

const forecast = defineTool({
  name: "forecast",
  description: "Weather of a city",
  parameters: z.object({ city: z.string(), days: z.int().default(1) }),
  outputSchema: z.object({ celsius: z.number() }),
  execute: ({ city, days }) => ({ celsius: city.length * days }),
})
const place = z.object({ city: z.string().transform((name) => name.toUpperCase()), mild: z.boolean() })
const CALL = { reply: { calls: [{ name: "forecast", arguments: { city: "Bern" } }] } }
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==",
  "base64",
)

let cwd: string
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "library-"))
  return () => rmSync(cwd, { recursive: true, force: true })
})
type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]
const model = (steps: Steps) => createScriptedBackend({ steps })

describe("a program of one's own", () => {
  test("reads the results of its tools by their types", async () => {
    const backend = model([CALL, { reply: "4 degrees." }])
    await using toolwright = await createToolwright({ tools: [forecast], backend, cwd })
    const seen: number[] = []
    for await (const event of toolwright.run("Is it cold in Bern?")) {
      if (event.type === "tool-end" && event.name === "forecast" && event.result.success) {
        expectTypeOf(event.result.data).toEqualTypeOf<{ celsius: number }>()
        seen.push(event.result.data.celsius)
      }
    }
    expect(seen).toEqual([4])
    expectTypeOf(toolwright.run("x")).toExtend<AsyncGenerator<RunEvent, RunSummary>>()
  })

  test.each([
    [true, { calls: 1, failedCalls: 0 }],
    [false, { calls: 1, failedCalls: 1 }],
  ])("answers later what a run waits for: %s", async (allowed, counts) => {
    const backend = model([CALL, { expect: { last: allowed ? "celsius" : "not today" }, reply: "Done." }])
    const permissions = { ask: ["forecast"], approvals: "wait" as const }
    await using toolwright = await createToolwright({ tools: [forecast], backend, cwd, permissions })
    expect(await toolwright.approvals.list()).toEqual([])
    await expect(toolwright.approvals.allow("none")).rejects.toMatchObject({ code: "UNKNOWN_APPROVAL" })
    expect(await toolwright.complete("Is it cold in Bern?")).toMatchObject({ outcome: "waiting", success: false })
    const [question] = await toolwright.approvals.list()
    expect(question).toMatchObject({ tool: "forecast", state: "pending", arguments: '{"city":"Bern"}' })
    const answer = { note: "not today", by: "Ada" }
    await toolwright.approvals[allowed ? "allow" : "deny"](question!.id, answer)
    const events: RunEvent[] = []
    for await (const event of toolwright.resume(question!.run!)) events.push(event)
    expect(events.at(-1)).toMatchObject({ type: "run-end", summary: { message: "Done.", ...counts } })
    const state = allowed ? "consumed" : "denied"
    expect(await toolwright.approvals.list({ state: "all" })).toMatchObject([{ state, answered_by: "Ada" }])
    await expect(toolwright.approvals.deny(question!.id)).rejects.toMatchObject({ code: "APPROVAL_CLOSED" })
  })

  test("asks a plain question where it has no tools, or wants none", async () => {
    const steps: Steps = [{ expect: { tools: false, messages: 1 }, reply: "Paris", repeat: "always" }]
    await using plain = await createToolwright({ backend: model(steps), cwd })
    expect(await plain.complete("What is the capital of France?")).toMatchObject({ success: true, message: "Paris" })
    await using toolwright = await createToolwright({ tools: [forecast], backend: model(steps), cwd })
    expect(await toolwright.complete("And of Spain?", { tools: [] })).toMatchObject({ success: true, calls: 0 })
  })

  test("offers some of its tools in one run, and hears of a name that is none", async () => {
    const other = { ...forecast, name: "other" }
    const backend = model([{ reply: "Done." }])
    await using toolwright = await createToolwright({ tools: [forecast, other], backend, cwd })
    await toolwright.complete("Go", { tools: ["other"] })
    expect(backend.requests[0]?.tools?.map((tool) => tool.function.name)).toEqual(["other"])
    await expect(toolwright.complete("Go", { tools: ["forcast"] })).rejects.toMatchObject({
      code: "UNKNOWN_TOOL",
      hint: "There is: forecast.",
    })
  })

  test("gets an answer as a value that its own schema made", async () => {
    const backend = model([CALL, { reply: "Mild." }, { reply: '{"city": "Bern", "mild": true}' }])
    await using toolwright = await createToolwright({ tools: [forecast], backend, cwd })
    const summary = await toolwright.complete("Is it mild in Bern?", { output: place })
    expect(summary).toMatchObject({ success: true, output: { city: "BERN", mild: true } })
    if (summary.success) expectTypeOf(summary.output).toEqualTypeOf<{ city: string; mild: boolean }>()
    const [head] = await toolwright.runs()
    expect(head?.summary).toMatchObject({ output: { city: "BERN", mild: true } })
  })

  test("gets one by a JSON Schema too, and hears of one that is none", async () => {
    await using toolwright = await createToolwright({ backend: model([{ reply: '{"n": 3}' }]), cwd })
    const output = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const
    const summary = await toolwright.complete("How many?", { output })
    if (summary.success) expectTypeOf(summary.output).toEqualTypeOf<{ n: number }>()
    expect(summary.output).toEqual({ n: 3 })
    const wrong = toolwright.complete("How many?", { output: { type: "object", properties: { n: 5 as never } } })
    await expect(wrong).rejects.toMatchObject({ code: "INVALID_SCHEMA" })
  })

  test("leaves the loop, and the run is over, on record too", async () => {
    const backend = model([{ reply: { text: "a", hang: true } }, { reply: "b" }])
    await using toolwright = await createToolwright({ tools: [forecast], backend, cwd, workspace: {} })
    for await (const event of toolwright.run("Wait")) if (event.type === "text-delta") break
    expect(await toolwright.runs()).toMatchObject([{ status: "cancelled", summary: { outcome: "cancelled" } }])
    expect(await toolwright.complete("Again")).toMatchObject({ success: true, message: "b" })
  })
})

describe("a name that is none", () => {
  test.each([
    [{ model: { baseURL: "http://localhost:1/v1" } }, "model.baseURL", "model.baseUrl"],
    [{ baseURL: "http://localhost:1/v1" }, "baseURL", "model.baseUrl"],
    [{ tool: [forecast] }, "tool", "tools"],
    [{ agent: { maxSteps: 5 } }, "agent.maxSteps", undefined],
  ])("is told, with the one that was meant: %o", async (given, name, meant) => {
    const hint = meant === undefined ? expect.any(String) : `Did you mean \`${meant}\`?`
    await expect(createToolwright({ ...(given as object), cwd })).rejects.toMatchObject({
      code: "INVALID_CONFIGURATION",
      message: `createToolwright has no option \`${name}\`.`,
      hint,
    })
  })

  test.each([
    [{ tools: { forecast } }, "`tools` of createToolwright is no list.", "tools: [forecast]"],
    [{ tools: [forecast], model: "qwen" }, "`model` of createToolwright is no object.", "model: { name:"],
    [{ model: { specificationVersion: "v3" } }, "is a model of the AI SDK.", "backend: fromAiSdk(model)"],
    [{ agent: 5 }, "`agent` of createToolwright is no object.", "agent: { … }"],
    [{ maxSteps: 5 }, "no option `maxSteps`", "agent: { maxRounds: … }"],
    [{ system: "Be brief." }, "no option `system`", "systemPrompt of a run"],
  ])("in the form of another library is told with ours: %o", async (given, message, hint) => {
    await expect(createToolwright({ ...(given as object), cwd })).rejects.toMatchObject({
      code: "INVALID_CONFIGURATION",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    })
  })

  test("is no flag of the command line where a program has no model", async () => {
    await using toolwright = await createToolwright({ tools: [forecast], cwd })
    await expect(toolwright.complete("Go")).rejects.toMatchObject({
      code: "NO_MODEL",
      hint: expect.not.stringContaining("--"),
    })
  })
})

describe("pictures", () => {
  test("go to the model as they are, from a file or from bytes, told by what is in them", async () => {
    writeFileSync(join(cwd, "dot.dat"), PNG)
    const backend = model([{ reply: "A dot." }])
    await using toolwright = await createToolwright({ backend, cwd })
    await toolwright.complete("What is this?", {
      media: [
        { type: "image", path: "dot.dat" },
        { type: "image", bytes: PNG },
      ],
    })
    const part = { type: "image", mimeType: "image/png", base64: PNG.toString("base64") }
    expect(backend.requests[0]?.messages).toMatchObject([{ role: "user", media: [part, part] }])
  })

  test.each([
    ["that is none", { path: "text.png" }, "UNSUPPORTED_MEDIA"],
    ["that is not there", { path: "none.png" }, "FILE_NOT_READ"],
  ])("one %s is refused before anybody is asked", async (_which, what, code) => {
    writeFileSync(join(cwd, "text.png"), "not a picture")
    const backend = model([{ reply: "never" }])
    await using toolwright = await createToolwright({ backend, cwd })
    const asked = toolwright.complete("What is this?", { media: [{ type: "image", ...what }] })
    await expect(asked).rejects.toMatchObject({ code })
    expect(backend.requests).toEqual([])
  })

  test("are refused where the model would not see them", async () => {
    const { leavesOut: _leavesOut, ...blind } = model([{ reply: "never" }])
    await using toolwright = await createToolwright({ backend: blind, cwd })
    const asked = toolwright.complete("What is this?", { media: [{ type: "image", bytes: PNG }] })
    await expect(asked).rejects.toMatchObject({ code: "UNSUPPORTED_MEDIA" })
  })
})

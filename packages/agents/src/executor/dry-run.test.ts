import { defineTool, NOT_RUN, type RunEvent } from "@toolwright/toolbox"
import { describe, expect, test, vi } from "vitest"
import { call, calls, echo, play } from "../testing/harness.ts"
import { DRY_RUN_ROUNDS } from "./dry-run.ts"

const ran = vi.fn()
const write = defineTool({
  name: "write",
  description: "Writes",
  effects: { writes: ["path"] },
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
    additionalProperties: false,
  },
  execute: ran,
})
const dry = (steps: Parameters<typeof play>[0], options: Parameters<typeof play>[2] = {}) =>
  play(steps, [write, echo("look")], { ...options, request: { dryRun: true, ...options.request } })
const resultsOf = (events: RunEvent[]) =>
  events.filter((event) => event.type === "tool-end").map(({ result }) => result)

describe("a dry run", () => {
  test("shows a flow of calls to its end, runs none, and tells the model so", async () => {
    const middleware = vi.fn()
    const { events, summary, backend } = await dry(
      [calls(call("look")), calls(call("write", { path: "a" })), { reply: "That was all." }],
      { middleware: [middleware] },
    )
    expect(events.filter(({ type }) => type === "call-end")).toMatchObject([
      { name: "look", arguments: {} },
      { name: "write", arguments: { path: "a" } },
    ])
    expect(events[0]).toMatchObject({ type: "run-start", dryRun: true })
    expect(resultsOf(events)).toMatchObject([
      { success: true, output: NOT_RUN },
      { success: true, output: NOT_RUN, modifiedFiles: [] },
    ])
    expect(backend.requests[1]!.messages.at(-1)).toMatchObject({ role: "tool", content: "Not run: this is a dry run." })
    expect(summary).toMatchObject({
      outcome: "completed",
      success: true,
      dryRun: true,
      rounds: 3,
      calls: 2,
      message: "dry run: 2 calls, well-formed; nothing was run",
    })
    expect(ran).not.toHaveBeenCalled()
    expect(middleware).not.toHaveBeenCalled()
  })

  test("is no success when a call is not valid: an argument missing, a tool unknown, a text that only looks like a call", async () => {
    const wrong = await dry([calls(call("write"), call("nothing")), { reply: "Done." }])
    expect(resultsOf(wrong.events).map(({ error }) => error?.code)).toEqual(["INVALID_ARGUMENTS", "UNKNOWN_TOOL"])
    expect(wrong.summary).toMatchObject({
      outcome: "failed",
      success: false,
      message: "dry run: 2 calls, 2 not well-formed; nothing was run",
    })
    const text = { modelName: "qwen2.5", abilities: { nativeTools: false, grammar: false, jsonSchema: false } }
    const broken = await dry([{ reply: '<tool_call>\n{"name": 1}\n</tool_call>' }, { reply: "Done." }], {
      scripted: text,
    })
    expect(broken.summary).toMatchObject({
      outcome: "failed",
      message: "dry run: 1 call, 1 not well-formed; nothing was run",
    })
  })

  test("asks nobody: it says what would be denied and what would be asked", async () => {
    const approve = vi.fn()
    const permissions = {
      rules: [
        { tool: "write", permission: "ask" as const },
        { tool: "look", permission: "deny" as const },
      ],
      approve,
    }
    const { events, summary } = await dry([calls(call("write", { path: "a" }), call("look")), { reply: "Done." }], {
      permissions,
    })
    expect(resultsOf(events)).toMatchObject([
      { success: true, metadata: { dryRun: true, permission: "ask" } },
      { success: false, error: { code: "PERMISSION_DENIED" }, metadata: { dryRun: true, permission: "deny" } },
    ])
    expect(summary).toMatchObject({
      success: true,
      message: "dry run: 2 calls, well-formed, 1 would be denied, 1 would need approval; nothing was run",
    })
    expect(approve).not.toHaveBeenCalled()
  })

  test("ends when the model repeats itself, and after a few rounds in any case", async () => {
    const again = await dry([{ reply: { calls: [call("write", { path: "a" })] }, repeat: "always" }])
    expect(again.summary).toMatchObject({ outcome: "completed", rounds: 2, calls: 2 })
    const steps = Array.from({ length: 20 }, (_, index) => calls(call("write", { path: `${index}` })))
    expect((await dry(steps)).summary).toMatchObject({ outcome: "completed", rounds: DRY_RUN_ROUNDS })
    expect((await dry(steps, { maxRounds: 3 })).summary).toMatchObject({ outcome: "completed", rounds: 3 })
  })

  test("asks for no proof of work that was not done", async () => {
    const completion = { signal: "TASK_COMPLETE", requireToolUse: true, requireValidation: true }
    const { summary } = await dry([calls(call("write", { path: "a" })), { reply: "I would be done. TASK_COMPLETE" }], {
      completion,
    })
    expect(summary).toMatchObject({ outcome: "completed", rounds: 2 })
    expect((await dry([{ reply: "I cannot do that." }], { completion })).summary).toMatchObject({
      success: true,
      message: "dry run: no call",
    })
  })
})

import { defineTool, failure, success, type ToolDefinition } from "@toolwright/toolbox"
import { describe, expect, test } from "vitest"
import { scripted } from "../script/scripted.ts"
import type { ScriptedReply } from "../script/reply.ts"
import { runAgent } from "../run/run-agent.ts"
import { faulty, type Faults } from "./faulty.ts"
import { stubbed } from "./stubbed.ts"

let pinged = 0
const ping = defineTool({
  name: "ping",
  description: "Answers",
  parameters: { type: "object", properties: { text: { type: "string" } }, additionalProperties: false },
  outputSchema: { type: "object", properties: { count: { type: "integer" } }, required: ["count"] },
  timeoutMs: 100,
  execute: () => ({ count: ++pinged }),
})
const call = (text: string): ScriptedReply => ({ call: "ping", arguments: { text } })
const outcomes = async (tool: ToolDefinition, calls = 1) => {
  const run = await runAgent({
    task: "Ping",
    tools: [tool],
    backend: scripted([...Array.from({ length: calls }, (_, number) => call(String(number))), "Done."]),
  })
  return run.calls.map(({ succeeded, error, output, data }) => ({
    code: succeeded ? "ok" : error?.code,
    retryable: error?.retryable,
    output,
    data,
  }))
}

describe("a faulty tool", () => {
  test("fails as often as it is told, and then works", async () => {
    const seen = await outcomes(faulty(ping, { fail: 2 }), 4)
    expect(seen.map(({ code, retryable }) => [code, retryable])).toEqual([
      ["FAULT", true],
      ["FAULT", true],
      ["ok", undefined],
      ["ok", undefined],
    ])
    expect(seen[0]!.output).toBe("'ping' failed on purpose (failure 1 of 2).")
    const own = await outcomes(
      faulty(ping, { fail: "always", error: { code: "RATE_LIMITED", message: "Wait.", retryable: false } }),
      2,
    )
    expect(own.map(({ code, retryable }) => [code, retryable])).toEqual([
      ["RATE_LIMITED", false],
      ["RATE_LIMITED", false],
    ])
  })

  test("is slow, until its time is over", async () => {
    const started = performance.now()
    expect((await outcomes(faulty(ping, { delayMs: 20 })))[0]!.code).toBe("ok")
    expect(performance.now() - started).toBeGreaterThan(19)
    expect((await outcomes(faulty(ping, { delayMs: 60_000 })))[0]!.code).toBe("TIMEOUT")
  })

  test("says too much, and has the same data", async () => {
    const run = await runAgent({
      task: "Ping",
      tools: [faulty(ping, { outputChars: 500_000 })],
      backend: scripted([
        call("a"),
        { expect: ({ result }) => expect(result.length).toBeLessThan(200_000), text: "Done." },
      ]),
    })
    expect(run.calls[0]!.output.length).toBeGreaterThanOrEqual(10_000)
    expect(run.calls[0]!.data).toEqual({ count: expect.any(Number) })
  })

  test("is still validated", async () => {
    const wrong = { call: "ping", arguments: { txt: "a" }, wrong: true }
    const run = await runAgent({
      task: "Ping",
      tools: [faulty(ping, { fail: 1 })],
      backend: scripted([wrong, call("a"), "Done."]),
    })
    expect(run.calls.map(({ error }) => error?.code)).toEqual(["INVALID_ARGUMENTS", "FAULT"])
  })

  test("needs a fault that exists", () => {
    expect(() => faulty(ping, {})).toThrow("one or more of: fail, error, delayMs, outputChars; there is none.")
    expect(() => faulty(ping, { fails: 2 } as Faults)).toThrow("there is 'fails'")
  })
})

describe("a stubbed tool", () => {
  test("answers data, a result, or what a function makes of the arguments, and never runs", async () => {
    const before = pinged
    expect(await outcomes(stubbed(ping, { count: 7 }))).toMatchObject([{ code: "ok", data: { count: 7 } }])
    expect(
      await outcomes(stubbed(ping, ({ text }: { text: string }) => success({ output: text, data: { count: 1 } }))),
    ).toMatchObject([{ output: "0" }])
    expect(await outcomes(stubbed(ping, failure({ code: "NO", message: "no" })))).toMatchObject([{ code: "NO" }])
    expect(pinged).toBe(before)
  })

  test("cannot answer what the tool could not", async () => {
    await expect(outcomes(stubbed(ping, { counts: 7 }))).rejects.toMatchObject({
      code: "STUB_WRONG_ANSWER",
      message:
        "The stub of 'ping' answers what the tool cannot, by its output schema:\n- the answer must have required " +
        "property 'count'\nThe answer was: {\"counts\":7}",
    })
  })
})

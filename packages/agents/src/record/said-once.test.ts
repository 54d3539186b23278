import { openDatabase, runLog } from "@toolwright/store"
import { defineTool, failure, success, ToolRegistry, type ToolResult } from "@toolwright/toolbox"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { recordedCalls } from "./call.ts"
import { readRun } from "./reader.ts"
import { saidAgain, saidOnce, wholeBody } from "./said-once.ts"

const TEXT = "One line of many.\n".repeat(250)

const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const ended = (result: ToolResult) => ({ callId: "c", name: "read", result })

test("whatever a result holds, what is read of its record is what was written, to the order of its fields", () => {
  const text = fc.oneof(fc.constant(TEXT), fc.constant("short"), fc.string())
  const key = fc.constantFrom("content", "text", "__proto__", "toJSON", "outputIn", "length")
  const data = fc.oneof(text, fc.jsonValue(), fc.array(text), fc.dictionary(key, fc.oneof(text, fc.jsonValue())))
  fc.assert(
    fc.property(data, text, fc.boolean(), (value, output, succeeds) => {
      const result = succeeds
        ? success({ output, data: value })
        : failure({ code: "TOOL_FAILED", message: "no", output, data: value })
      const kept = JSON.stringify(saidOnce(ended(result)))
      const whole = JSON.stringify(ended(result))
      expect(JSON.stringify(saidAgain(JSON.parse(kept) as object))).toBe(whole)
      expect(wholeBody({ type: "tool-end", body: kept })).toBe(whole)
      if (output === TEXT && value === TEXT) expect(kept.length).toBeLessThan(whole.length * 0.6)
    }),
  )
})

test("a record that points where nothing is, as one from elsewhere may, is shown as it stands", () => {
  const result = success({ output: "text", data: { content: "x" } })
  for (const outputIn of [["toString"], ["a", "b"], [1], "content", {}]) {
    const read = saidAgain(asJson({ ...ended(result), outputIn }) as object) as { result: ToolResult }
    expect(asJson(read.result)).toEqual(asJson(result))
  }
  const damaged = '{"outputIn":["content"],'
  expect(wholeBody({ type: "tool-end", body: damaged })).toBe(damaged)
})

test("the text of a file that was read is on record once, without its secrets, and is read as it came", async () => {
  const database = await openDatabase(":memory:")
  const log = runLog(database)
  const tools = new ToolRegistry()
  const content = `${TEXT}the password is hunter2`
  tools.register(
    defineTool({
      name: "read",
      description: "",
      parameters: { type: "object" },
      effects: { readOnly: true },
      execute: () => success({ output: content, data: { content, lines: 251 } }),
    }),
  )
  const redact = (text: string): string => text.replaceAll("hunter2", "[secret]")
  const execute = recordedCalls(async () => log, { surface: "http", workspace: "/w" }, { redact })
  expect((await execute(tools, { name: "read", arguments: {} })).data).toEqual({ content, lines: 251 })

  const [row] = await log.list()
  const [, kept] = await log.events(row!.id)
  expect(kept!.body!.split("One line of many.").length - 1).toBe(250)
  const safe = redact(content)
  const { events, files } = await readRun(log, row!.id)
  const result = { success: true, output: safe, data: { content: safe, lines: 251 } }
  expect(events.find(({ type }) => type === "tool-end")).toMatchObject({ name: "read", result })
  expect(JSON.parse(files[0]!.text)).toMatchObject([{ name: "read", result }])
  await database.close()
})

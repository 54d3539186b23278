import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineTool } from "@toolwright/toolbox"
import { beforeEach, expect, test } from "vitest"
import { call, calls, echo, play } from "../testing/harness.ts"
import { listRuns, readRun, statusOf } from "./reader.ts"
import { recordRun } from "./recorder.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "runs-"))
  return () => rmSync(folder, { recursive: true, force: true })
})

const record = (runId: string) =>
  recordRun(join(folder, runId), { redact: (text) => text.replaceAll("hunter2", "[secret]") })
const run = (runId: string, reply = "done") =>
  play([calls(call("look", { text: "hunter2" })), { reply }], [echo("look")], { recorder: record, request: { runId } })

test("a run leaves numbered files and one line for each event, without secrets and without deltas", async () => {
  await run("one")
  expect(readdirSync(join(folder, "one"))).toEqual([
    "001-prompt.md",
    "002-response.md",
    "003-tool-calls.json",
    "004-tool-results.json",
    "005-prompt.md",
    "006-response.md",
    "events.jsonl",
    "run.json",
  ])
  const { head, events, files } = readRun(folder, "one")
  expect(head).toMatchObject({
    runId: "one",
    agent: "assistant",
    task: "Do it",
    summary: { outcome: "completed", calls: 1 },
  })
  expect(events.map(({ type }) => type)).toContain("tool-end")
  expect(events.map(({ type }) => type)).not.toContain("text-delta")
  expect(files[0]?.text).toMatch(/^# system/)
  expect(files[4]?.text).toMatch(/^\(The first 2 messages are those of the prompt before\.\)/)
  const everything = readdirSync(join(folder, "one"))
    .map((name) => readFileSync(join(folder, "one", name), "utf8"))
    .join("")
  expect(everything).not.toContain("hunter2")
  expect(everything).toContain("[secret]")
})

test("data that JSON has no form for is lost from no record, nor what comes after it", async () => {
  const loop: Record<string, unknown> = { size: 5n }
  loop.self = loop
  const odd = defineTool({ name: "odd", description: "", parameters: { type: "object" }, execute: () => loop })
  await play([calls(call("odd")), calls(call("look")), { reply: "done" }], [odd, echo("look")], {
    recorder: record,
    request: { runId: "odd" },
  })
  const { events, files } = readRun(folder, "odd")
  expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(2)
  expect(files.filter(({ name }) => name.endsWith("tool-results.json"))).toHaveLength(2)
})

test("runs are listed newest first, found by the beginning of their id, and a wrong id is answered with near ones", async () => {
  await run("20260101-a")
  await new Promise((resolve) => setTimeout(resolve, 2))
  await run("20260102-b")
  expect(listRuns(folder).map(({ runId }) => runId)).toEqual(["20260102-b", "20260101-a"])
  expect(readRun(folder, "latest").head.runId).toBe("20260102-b")
  expect(readRun(folder, "20260101").head.runId).toBe("20260101-a")
  expect(() => readRun(folder, "2026")).toThrow(
    expect.objectContaining({ code: "UNKNOWN_RUN", message: "Several runs begin with '2026'." }),
  )
  expect(() => readRun(folder, "20260103-b")).toThrow(
    expect.objectContaining({ hint: expect.stringContaining("20260102-b") }),
  )
  expect(listRuns(join(folder, "none"))).toEqual([])
})

test("a run whose process died can be read up to its last whole line, and counts as interrupted", async () => {
  await run("cut")
  const head = JSON.parse(readFileSync(join(folder, "cut", "run.json"), "utf8")) as object
  writeFileSync(join(folder, "cut", "run.json"), JSON.stringify({ ...head, summary: undefined, pid: 2 ** 22 }))
  appendFileSync(join(folder, "cut", "events.jsonl"), '{"type":"too')
  const { head: read, events } = readRun(folder, "cut")
  expect(statusOf(read)).toBe("interrupted")
  expect(events.at(-1)?.type).toBe("run-end")
})

test("a folder that cannot be made is told before the run; one that vanishes does not end it", async () => {
  writeFileSync(join(folder, "file"), "")
  expect(() => recordRun(join(folder, "file", "run"))).toThrow(expect.objectContaining({ code: "RECORD_UNWRITABLE" }))
  const vanish = defineTool({
    name: "vanish",
    description: "",
    parameters: { type: "object" },
    execute: async () => (await import("node:fs")).rmSync(join(folder, "gone"), { recursive: true }),
  })
  const { summary } = await play([calls(call("vanish")), { reply: "done" }], [vanish], {
    recorder: record,
    request: { runId: "gone" },
  })
  expect(summary.success).toBe(true)
})

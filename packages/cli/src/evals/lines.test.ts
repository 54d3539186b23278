import type { EvaluationReport } from "@toolwright/runtime/evals"
import type { TrialResult } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { styleFor } from "../render/style.ts"
import { compareLines, digestLine, failedLines, reportLines, trialLines } from "./lines.ts"

test("names and reasons that strangers wrote do nothing to a terminal", () => {
  const evil = "\u001B]0;title\u0007\u001B[2J\u202E\r\nx"
  const counts = { calls: 0, inputTokens: 0, outputTokens: 0, milliseconds: 0 }
  const trial: TrialResult = {
    ...counts,
    task: evil,
    model: evil,
    trial: 1,
    verdict: "fail",
    grades: [{ grader: evil, verdict: "fail", reason: evil }],
    answer: evil,
    failedCalls: 0,
    rounds: 0,
    changed: [],
    error: { code: evil, message: evil },
    folder: evil,
  }
  const figures = { ...counts, model: evil, measured: 1, passed: 0, errors: 0, passAt: { 1: 0 }, passAll: { 1: 0 } }
  const report: EvaluationReport = {
    id: "e1",
    suite: evil,
    startedAt: "2026-01-01T00:00:00.000Z",
    state: "done",
    threshold: 1,
    reached: false,
    planned: 1,
    open: 0,
    models: [{ ...figures, interval: [0, 1], reached: false }],
    tasks: [{ ...figures, task: evil }],
    trials: [trial],
  }
  const style = styleFor(false, {})
  const better = { ...report, tasks: report.tasks.map((task) => ({ ...task, passed: 1 })) }
  const lines = [
    ...trialLines(trial, style, { task: 1, model: 1 }),
    ...reportLines(report, style),
    ...compareLines(report, better, style),
    digestLine({ ...report, message: evil }),
  ]
  // eslint-disable-next-line no-control-regex
  expect(lines.filter((line) => /[\u0000-\u001F\u007F-\u009F\u202E]/.test(line))).toEqual([])
  expect(lines.join("\n")).toContain("title")
})

test("thousands of tasks that a file tells of, with long names that begin alike, take little time", () => {
  const counts = { calls: 0, inputTokens: 0, outputTokens: 0, milliseconds: 0 }
  const figures = { ...counts, model: "m", measured: 1, passed: 0, errors: 0, passAt: { 1: 0 }, passAll: { 1: 0 } }
  const names = Array.from({ length: 20_000 }, (_, at) => `${"t".repeat(400)}${at}`)
  const rest = { verdict: "fail" as const, grades: [], answer: "", failedCalls: 0, rounds: 0, changed: [] }
  const report: EvaluationReport = {
    id: "e1",
    suite: "s",
    startedAt: "2026-01-01T00:00:00.000Z",
    state: "done",
    threshold: 1,
    reached: false,
    planned: names.length,
    open: 0,
    models: [{ ...figures, interval: [0, 1], reached: false }],
    tasks: names.map((task) => ({ ...figures, task })),
    trials: names.map((task) => ({ ...counts, ...rest, task, model: "m", trial: 1 })),
  }
  const style = styleFor(false, {})
  const begun = process.cpuUsage()
  expect(reportLines(report, style).length).toBeGreaterThan(names.length)
  expect(compareLines(report, report, style)).toHaveLength(names.length + 1)
  const failed = failedLines(report, style, ({ task }) => [`  ${task.length}`])
  expect(failed).toHaveLength(2 * names.length)
  expect(failed[0]).toMatch(/^failed {8}t{59}… {2}m {2}trial 1/u)
  const { user, system } = process.cpuUsage(begun)
  expect((user + system) / 1000).toBeLessThan(5000)
})

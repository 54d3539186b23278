import type { TaskRow } from "@toolwright/store/state"
import { expect, test } from "vitest"
import { taskTree } from "../tasks/lines.ts"
import { listLines } from "../tool-catalogue/lines.ts"
import { cut } from "./room.ts"

const terminal = (columns: number) => ({
  stdout: { write: () => true, columns },
  isTTY: { stdin: true, stdout: true, stderr: true },
})
const pipe = { stdout: { write: () => true }, isTTY: { stdin: false, stdout: false, stderr: false } }

const TOOLS = [
  {
    name: "read_text_file",
    category: "code",
    summary: "Reads a text file, whole or in part: its first or last lines.",
  },
  { name: "git", category: "vcs", summary: "Works with the repository.", unavailable: "set GIT" },
]

test("a list goes on below its last column on a terminal, and has a line for each entry in a pipe", () => {
  expect(listLines(TOOLS, terminal(60))).toEqual([
    "read_text_file  code  Reads a text file, whole or in part:",
    "                      its first or last lines.",
    "git             vcs   Works with the repository. [not",
    "                      available here: set GIT]",
  ])
  expect(listLines(TOOLS, pipe)).toHaveLength(2)
})

test("where a column would be too narrow to be read, it goes on below the line's beginning", () => {
  expect(listLines(TOOLS.slice(0, 1), terminal(44))).toEqual([
    "read_text_file  code",
    "    Reads a text file, whole or in part: its",
    "    first or last lines.",
  ])
})

test("tasks keep their columns on a terminal; why one stands still is told below it", () => {
  const row = {
    id: "fix-1.mend",
    state: "blocked",
    agent: "debugger",
    attempts: 0,
    parent: null,
    input: JSON.stringify({ task: "Reproduce this problem, mend it and run the tests" }),
    result: null,
    idempotency_key: null,
    reason: "it waits for fix-1.look, which failed",
  } as TaskRow
  const [line, why, ...more] = taskTree([row], terminal(70))
  expect(Array.from(line!)).toHaveLength(70)
  expect(line).toMatch(/^fix-1\.mend +blocked +debugger: Reproduce .*…$/)
  expect([why, more]).toEqual(["  it waits for fix-1.look, which failed", []])
  expect(taskTree([row], pipe)).toEqual([expect.stringMatching(/run the tests: it waits for/)])
})

test("a character of several code units is not cut in half", () => {
  expect(cut("ab😀cd", 4)).toBe("ab😀…")
})

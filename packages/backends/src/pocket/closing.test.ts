import { failure, success, type ToolResult } from "@toolwright/toolbox"
import { expect, test } from "vitest"
import { closingSentence } from "./closing.ts"

const step = (tool: string, args: object, recorded: ToolResult) => ({
  reply: `<tool_call>\n${JSON.stringify({ name: tool, arguments: args })}\n</tool_call>`,
  tool,
  result: recorded.output,
  recorded,
})

test.each([
  ["read_text_file", { path: "a.txt" }, success({ data: { line_count: 3, content: "x" } }), "a.txt: 3 lines."],
  [
    "read_text_file",
    { path: "a.txt", head: 1 },
    success({ data: { line_count: 1, content: "x" } }),
    "1 line of a.txt.",
  ],
  ["read_text_file", { path: "a.txt" }, success({ data: { line_count: 0, content: "" } }), "a.txt is empty."],
  ["search_grep", { pattern: "x" }, success({ data: { total: 12 } }), "12 lines with x."],
  ["search_grep", { pattern: "x" }, success({ data: { total: 0 } }), "No line contains x."],
  [
    "write_file",
    { path: "a" },
    success({ output: "Created /w/a (1 line, 2 bytes).\nmore" }),
    "Created a (1 line, 2 bytes).",
  ],
  ["git_diff", {}, success({ output: "x", data: { diff: "x" } }), "The differences are above."],
  [
    "git_diff",
    {},
    success({ output: "No differences: the working tree is clean.", data: { diff: "" } }),
    "No differences: the working tree is clean.",
  ],
  ["test", {}, success({ data: { passed: 4, failed: 0, skipped: 1 } }), "4 tests passed, none failed, 1 skipped."],
  [
    "test",
    {},
    failure({ code: "TESTS_FAILED", message: "no", data: { passed: 1, failed: 2 } }),
    "2 of 3 tests failed.",
  ],
  [
    "test",
    {},
    failure({ code: "PERMISSION_DENIED", message: "'test' was not approved." }),
    "Not done: 'test' was not approved.",
  ],
  [
    "bash",
    {},
    failure({ code: "COMMAND_FAILED", message: "x", data: { exit_code: 3 } }),
    "The command failed: exit code 3.",
  ],
  ["delete_file", {}, failure({ code: "NOT_FOUND", message: "File not found: b" }), "That failed: File not found: b."],
] as const)("after %s %j it says what its result says: %#", (tool, args, result, said) => {
  expect(closingSentence([step(tool, args, result)], "/w")).toBe(said)
})

test("after several calls it says what came of each", () => {
  const made = step("create_directory", {}, success({ output: "Created n." }))
  const wrong = step("write_file", {}, failure({ code: "X", message: "No room" }))
  expect(closingSentence([made, wrong])).toBe("Created n. That failed: No room.")
})

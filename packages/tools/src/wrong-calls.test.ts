import { readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { ToolResult } from "@toolwright/toolbox"
import { fileFixture, type FileFixture } from "./testing/file-fixture.ts"

interface WrongCall {
  /** What is wrong with it. */
  mistake: string
  name: string
  arguments: unknown
  code: string
  /** What a model needs from the answer to make the right call. */
  needs: string[]
}

const CODE =
  "export function mean(values: number[]) {\n  let sum = 0\n  for (const value of values) sum += value\n  return " +
  "sum / values.length\n}\n\nexport const limit = 10\nexport const limitOfAll = 10\n"

const WRONG_CALLS: WrongCall[] = [
  // The name of the tool or of the action.
  {
    mistake: "A tool that does not exist",
    name: "read_textfile",
    arguments: { path: "src/mean.ts" },
    code: "UNKNOWN_TOOL",
    needs: ["read_text_file", "src/mean.ts"],
  },
  {
    mistake: "An action's name instead of the tool's",
    name: "find_files",
    arguments: { pattern: "*.test.ts" },
    code: "UNKNOWN_TOOL",
    needs: ['"name":"search"', '"action":"find_files"', '"pattern":"*.test.ts"'],
  },
  {
    mistake: "No action",
    name: "search",
    arguments: { pattern: "mean" },
    code: "INVALID_ARGUMENTS",
    needs: ["action", "grep", "find_definition", '"action":"grep"'],
  },
  {
    mistake: "A wrong action",
    name: "search",
    arguments: { action: "find", pattern: "mean" },
    code: "INVALID_ARGUMENTS",
    needs: ["find_files", "find_in_file"],
  },
  {
    mistake: "type instead of action",
    name: "code_edit",
    arguments: { type: "get_lines", path: "src/mean.ts" },
    code: "INVALID_ARGUMENTS",
    needs: ["action", "get_lines"],
  },
  {
    mistake: "An argument of another action",
    name: "file",
    arguments: { action: "read", path: "src/mean.ts", content: "x" },
    code: "INVALID_ARGUMENTS",
    needs: ["content", '"action":"read"'],
  },
  // Arguments.
  {
    mistake: "A missing argument",
    name: "write_file",
    arguments: { path: "src/new.ts" },
    code: "INVALID_ARGUMENTS",
    needs: ["content", "missing", '"path":"src/new.ts"'],
  },
  {
    mistake: "Two missing arguments",
    name: "move_file",
    arguments: {},
    code: "INVALID_ARGUMENTS",
    needs: ["source", "destination"],
  },
  {
    mistake: "An unknown argument",
    name: "list_directory",
    arguments: { path: "src", recursive: true },
    code: "INVALID_ARGUMENTS",
    needs: ["recursive", "path"],
  },
  {
    mistake: "A misspelt argument",
    name: "read_text_file",
    arguments: { path: "src/mean.ts", haed: 5 },
    code: "INVALID_ARGUMENTS",
    needs: ["haed", "head"],
  },
  {
    mistake: "Words for a number",
    name: "read_text_file",
    arguments: { path: "src/mean.ts", head: "ten" },
    code: "INVALID_ARGUMENTS",
    needs: ["head", "integer", '"ten"'],
  },
  {
    mistake: "A fraction for a whole number",
    name: "read_text_file",
    arguments: { path: "src/mean.ts", head: 1.5 },
    code: "INVALID_ARGUMENTS",
    needs: ["head", "integer", "1.5"],
  },
  {
    mistake: "A negative number",
    name: "read_text_file",
    arguments: { path: "src/mean.ts", tail: -5 },
    code: "INVALID_ARGUMENTS",
    needs: ["tail", "0", "-5"],
  },
  {
    mistake: "A value that is not offered",
    name: "list_directory_with_sizes",
    arguments: { path: ".", sort_by: "date" },
    code: "INVALID_ARGUMENTS",
    needs: ["sort_by", "name", "size", "date"],
  },
  {
    mistake: "An object for a text",
    name: "read_text_file",
    arguments: { path: { file: "src/mean.ts" } },
    code: "INVALID_ARGUMENTS",
    needs: ["path", "string"],
  },
  {
    mistake: "No list where one is needed",
    name: "read_multiple_files",
    arguments: { paths: {} },
    code: "INVALID_ARGUMENTS",
    needs: ["paths", "array"],
  },
  {
    mistake: "An empty list",
    name: "read_multiple_files",
    arguments: { paths: [] },
    code: "INVALID_ARGUMENTS",
    needs: ["paths", "1"],
  },
  {
    mistake: "Half an edit",
    name: "edit_file",
    arguments: { path: "src/mean.ts", old_text: "let sum = 0" },
    code: "INVALID_ARGUMENTS",
    needs: ["new_text", '"old_text":"let sum = 0"'],
  },
  {
    mistake: "A field that an edit does not have",
    name: "edit_file",
    arguments: { path: "src/mean.ts", edits: [{ search: "a", replace: "b" }] },
    code: "INVALID_ARGUMENTS",
    needs: ["old_text", "new_text"],
  },
  // Paths.
  {
    mistake: "A path outside",
    name: "read_text_file",
    arguments: { path: "/etc/passwd" },
    code: "ACCESS_DENIED",
    needs: ["denied", "Allowed directories: /workspace"],
  },
  {
    mistake: "A way out with dots",
    name: "write_file",
    arguments: { path: "../../outside.txt", content: "" },
    code: "ACCESS_DENIED",
    needs: ["not within allowed directories", "/workspace"],
  },
  {
    mistake: "A file that is not there",
    name: "read_text_file",
    arguments: { path: "src/maen.ts" },
    code: "NOT_FOUND",
    needs: ["File not found: src/maen.ts", "src/mean.ts"],
  },
  {
    mistake: "A directory read as a file",
    name: "read_text_file",
    arguments: { path: "src" },
    code: "NOT_A_FILE",
    needs: ["Not a file: src", "list_directory"],
  },
  {
    mistake: "A file listed as a directory",
    name: "list_directory",
    arguments: { path: "src/mean.ts" },
    code: "NOT_A_DIRECTORY",
    needs: ["Not a directory: src/mean.ts", "read_text_file"],
  },
  {
    mistake: "A file in a directory that does not exist",
    name: "write_file",
    arguments: { path: "lib/new.ts", content: "" },
    code: "PARENT_NOT_FOUND",
    needs: ["Parent directory does not exist: /workspace/lib", "create_directory"],
  },
  {
    mistake: "A secret",
    name: "read_text_file",
    arguments: { path: ".env" },
    code: "ACCESS_DENIED",
    needs: ['it matches ".env"', "ask the user"],
  },
  {
    mistake: "A repository's own files",
    name: "write_file",
    arguments: { path: ".git/config", content: "" },
    code: "ACCESS_DENIED",
    needs: ['it matches ".git"'],
  },
  {
    mistake: "A move onto a directory",
    name: "move_file",
    arguments: { source: "notes.txt", destination: "src" },
    code: "ALREADY_EXISTS",
    needs: ["src/notes.txt"],
  },
  {
    mistake: "A binary file read as text",
    name: "read_text_file",
    arguments: { path: "data.bin" },
    code: "BINARY_FILE",
    needs: ["binary", "read_media_file"],
  },
  {
    mistake: "A directory that is not empty",
    name: "delete_directory",
    arguments: { path: "src" },
    code: "NOT_EMPTY",
    needs: ["recursive", "true"],
  },
  // Texts and lines.
  {
    mistake: "A text that is there twice",
    name: "edit_file",
    arguments: { path: "src/mean.ts", old_text: "= 10", new_text: "= 20" },
    code: "EDIT_AMBIGUOUS",
    needs: ["2 times", "lines 7, 8", "replace_all"],
  },
  {
    mistake: "A text that is there nearly",
    name: "edit_file",
    arguments: { path: "src/mean.ts", old_text: "for (const v of values) sum += v", new_text: "x" },
    code: "EDIT_NOT_FOUND",
    needs: ["Did you mean", "3:   for (const value of values) sum += value"],
  },
  {
    mistake: "A change that was made already",
    name: "edit_file",
    arguments: { path: "src/mean.ts", old_text: "const max = 10", new_text: "const limit = 10" },
    code: "EDIT_NOT_FOUND",
    needs: ["new_text already is, at line 7"],
  },
  {
    mistake: "Lines beyond the end",
    name: "code_edit",
    arguments: { action: "edit_lines", path: "src/mean.ts", start_line: 40, end_line: 41, content: "x" },
    code: "INVALID_RANGE",
    needs: ["it has 8 lines", "1 to 8"],
  },
  {
    mistake: "A file that changed in the meantime",
    name: "edit_file",
    arguments: { path: "src/mean.ts", old_text: "sum = 0", new_text: "sum = 1", expected_hash: "0000000000000000" },
    code: "STALE",
    needs: ["no longer what was read", "Read the file again"],
  },
]

let files: FileFixture
beforeAll(() => {
  files = fileFixture({
    "src/mean.ts": CODE,
    "notes.txt": "notes\n",
    ".env": "KEY=1\n",
    ".git/config": "",
    "data.bin": Buffer.from([0, 1]),
  })
  symlinkSync("/etc", join(files.root, "etc"))
})
afterAll(() => files[Symbol.dispose]())

const answers = new Map<WrongCall, ToolResult>()
const answerOf = async (call: WrongCall): Promise<ToolResult> => {
  const result = answers.get(call) ?? (await files.registry.execute(call.name, call.arguments))
  answers.set(call, result)
  return result
}
const shown = (text: string) => text.replaceAll(files.root, "/workspace")

describe("a wrong call is answered by what the right one needs", () => {
  test.each(WRONG_CALLS)("$mistake: $name", async (call) => {
    const { success, error, output } = await answerOf(call)
    expect(success).toBe(false)
    expect([error?.code, shown(output)]).toEqual([call.code, expect.any(String)])
    for (const needed of call.needs) expect(shown(output)).toContain(needed)
    expect(output.length).toBeLessThan(1500)
  })

  test("thirty and more are tried, and nothing was changed by them", () => {
    expect(WRONG_CALLS.length).toBeGreaterThanOrEqual(30)
    expect(files.text("src/mean.ts")).toBe(CODE)
  })
})

test("docs/wrong-calls.md shows these calls and their answers", async () => {
  const sections = []
  for (const call of WRONG_CALLS) {
    const { output, error } = await answerOf(call)
    const wrong = JSON.stringify({ name: call.name, arguments: call.arguments })
    sections.push(
      `## ${call.mistake}\n\n\`\`\`json\n${wrong}\n\`\`\`\n\n\`${error?.code}\`\n\n\`\`\`text\n${shown(output)}\n` +
        `\`\`\`\n`,
    )
  }
  const text = [
    "# Wrong calls and their answers",
    "",
    "What models get wrong most often, and what they are told: each answer names the mistake and holds what the " +
      "right call needs.",
    "The workspace is `/workspace`. Generated by `packages/tools/src/wrong-calls.test.ts`; " +
      "`UPDATE_DOCS=1` writes it anew.",
    "",
    ...sections,
  ].join("\n")
  const page = join(import.meta.dirname, "../../../docs/wrong-calls.md")
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(page, text)
  expect(readFileSync(page, "utf8")).toBe(text)
})

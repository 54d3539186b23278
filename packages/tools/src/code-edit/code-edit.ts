import { success, type JsonObject, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { binaryFile, changeFile, EXPECTED_HASH } from "../edit/change-file.ts"
import { checkRange, insertLines, replaceLines, type LineRange } from "../edit/line-edits.ts"
import { defineMultiActionTool } from "../multi-action.ts"
import type { Workspace } from "../paths/workspace.ts"
import { decodeText } from "../text/encoding.ts"
import { splitLines, withoutEnding } from "../text/lines.ts"
import { WINDOW_OUTPUT_CHARS, windowOf } from "../text/window.ts"

const path: JsonSchema = { type: "string", description: "File path: absolute, or relative to the first allowed directory" }
const start_line: JsonSchema = { type: "integer", minimum: 1, description: "First line, counted from 1" }
const end_line: JsonSchema = { type: "integer", minimum: 1, description: "Last line, included" }
const effects = { destructive: false, idempotent: false, writes: ["path"] } as const

/** The `code_edit` tool of coding agents: reading and changing lines by their numbers. */
export function createCodeEditTool(workspace: Workspace): ToolDefinition {
  return defineMultiActionTool({
    name: "code_edit",
    title: "Code edit",
    description: "Reads, replaces, inserts and deletes lines of a file by their numbers (from 1).",
    category: "code",
    optionality: "required",
    usageHint:
      "Get the lines first; numbers shift after each change. Pass the hash that get_lines reports as expected_hash, so that lines you have not seen are never replaced.",
    tags: ["filesystem", "code", "edit"],
    effects: { reads: ["path"], writes: ["path"] },
    maxOutputChars: WINDOW_OUTPUT_CHARS,
    aliases: {
      arguments: {
        file_path: "path",
        file: "path",
        filename: "path",
        new_content: "content",
        new_text: "content",
        text: "content",
        line_number: "line",
        start: "start_line",
        end: "end_line",
      },
    },
    output: { type: "object", properties: { path: { type: "string" }, hash: { type: "string" } }, required: ["path", "hash"] },
    actions: {
      get_lines: {
        description: "Returns lines with their numbers.",
        properties: { path, start_line, end_line },
        required: ["path"],
        effects: { readOnly: true, idempotent: true, reads: ["path"] },
        examples: [{ description: "The first two lines", input: { path: "src/index.ts", start_line: 1, end_line: 2 } }],
        run: (args) => getLines(workspace, args),
      },
      edit_lines: {
        description: "Replaces lines with other ones.",
        properties: {
          path,
          start_line,
          end_line,
          content: { type: "string", description: "The new lines; an empty text deletes the old ones" },
          expected_hash: EXPECTED_HASH,
        },
        required: ["path", "start_line", "end_line", "content"],
        effects,
        examples: [
          {
            description: "Replace line 1",
            input: { path: "src/index.ts", start_line: 1, end_line: 1, content: "export const answer = 42" },
          },
        ],
        run: (args) => {
          const { path, content, expected_hash, ...range } = args as unknown as LineChange & LineRange & { content: string }
          return changeFile(workspace, path, (text) => replaceLines(text, range, content, path), { expectedHash: expected_hash })
        },
      },
      insert_at_line: {
        description: "Inserts lines before a line; the number after the last line appends.",
        properties: {
          path,
          line: { type: "integer", minimum: 1, description: "The new lines begin at this number" },
          content: { type: "string", description: "The lines to insert" },
          expected_hash: EXPECTED_HASH,
        },
        required: ["path", "line", "content"],
        effects,
        examples: [{ description: "Insert a first line", input: { path: "src/index.ts", line: 1, content: "// The answer." } }],
        run: (args) => {
          const { path, line, content, expected_hash } = args as unknown as LineChange & { line: number; content: string }
          return changeFile(workspace, path, (text) => insertLines(text, line, content, path), { expectedHash: expected_hash })
        },
      },
      delete_lines: {
        description: "Deletes lines.",
        properties: { path, start_line, end_line, expected_hash: EXPECTED_HASH },
        required: ["path", "start_line", "end_line"],
        effects: { ...effects, destructive: true },
        examples: [{ description: "Delete line 2", input: { path: "src/index.ts", start_line: 2, end_line: 2 } }],
        run: (args) => {
          const { path, expected_hash, ...range } = args as unknown as LineChange & LineRange
          return changeFile(workspace, path, (text) => replaceLines(text, range, "", path), { expectedHash: expected_hash })
        },
      },
    },
  })
}

interface LineChange {
  path: string
  expected_hash?: string
}

async function getLines(workspace: Workspace, args: JsonObject) {
  const { path, start_line = 1, end_line } = args as unknown as { path: string } & Partial<LineRange>
  const content = await workspace.read(path)
  const decoded = decodeText(content.bytes)
  if (decoded === undefined) throw binaryFile(path)
  const lines = splitLines(decoded.text).map(withoutEnding)
  const last = Math.min(end_line ?? lines.length, Math.max(lines.length, start_line))
  if (lines.length > 0 || start_line > 1) {
    const wrong = checkRange({ start_line, end_line: end_line !== undefined && end_line < start_line ? end_line : last }, lines.length, path)
    if (wrong !== undefined) return wrong
  }
  const shown = lines.slice(start_line - 1, last)
  const width = String(last).length
  const numbered = shown.map((line, index) => `${String(start_line + index).padStart(width)}: ${line}\n`).join("")
  const text = windowOf(numbered, {
    firstLine: start_line,
    totalLines: lines.length,
    next: (line) => `Use start_line=${line}`,
  })
  return success({
    output: `${text}[${lines.length} lines, hash ${content.hash}]`,
    data: {
      path: content.shown,
      lines: shown.map((text, index) => ({ line: start_line + index, text })),
      line_count: lines.length,
      hash: content.hash,
    },
  })
}


import type { JsonSchema, ToolDefinition } from "@toolwright/toolbox"
import { EXPECTED_HASH } from "@toolwright/host/edit"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { WINDOW_OUTPUT_CHARS } from "@toolwright/host/text"
import { grounded } from "../ground/grounded.ts"

const path = grounded(
  { type: "string", description: "File path: absolute, or relative to the first allowed directory" },
  "path",
)
const start_line: JsonSchema = { type: "integer", minimum: 1, description: "First line, counted from 1" }
const end_line: JsonSchema = { type: "integer", minimum: 1, description: "Last line, included" }
const effects = { destructive: false, idempotent: false, writes: ["path"] } as const

const ALIASES: NonNullable<ToolDefinition["aliases"]> = {
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
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: { path: { type: "string" }, hash: { type: "string" } },
  required: ["path", "hash"],
}

/** The `code_edit` tool of coding agents: reading and changing lines by their numbers. */
export function createCodeEditTool(workspace: Workspace): ToolDefinition {
  return defineMultiActionTool({
    name: "code_edit",
    ruledAs: ["edit_file", "file_replace"],
    sets: ["coding", "general"],
    title: "Code edit",
    description: "Reads, replaces, inserts and deletes lines of a file by their numbers (from 1).",
    category: "code",
    optionality: "required",
    usageHint:
      "Get the lines first; numbers shift after each change. Pass the hash that get_lines reports as " +
      "expected_hash, so that lines you have not seen are never replaced.",
    tags: ["filesystem", "code", "edit"],
    effects: { reads: ["path"], writes: ["path"] },
    ...reconciledBy(workspace),
    maxOutputChars: WINDOW_OUTPUT_CHARS,
    aliases: ALIASES,
    outputSchema: OUTPUT,
    actions: {
      get_lines: {
        description: "Returns lines with their numbers.",
        properties: { path, start_line, end_line },
        required: ["path"],
        effects: { readOnly: true, idempotent: true, reads: ["path"] },
        examples: [{ description: "The first two lines", input: { path: "src/index.ts", start_line: 1, end_line: 2 } }],
        execute: async (args) => (await import("./lines.ts")).getLines(workspace, args),
      },
      edit_lines: editLinesAction(workspace),
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
        examples: [
          { description: "Insert a first line", input: { path: "src/index.ts", line: 1, content: "// The answer." } },
        ],
        execute: async (args) => (await import("./lines.ts")).insertAtLine(workspace, args),
      },
      delete_lines: {
        description: "Deletes lines.",
        properties: { path, start_line, end_line, expected_hash: EXPECTED_HASH },
        required: ["path", "start_line", "end_line"],
        effects: { ...effects, destructive: true },
        examples: [{ description: "Delete line 2", input: { path: "src/index.ts", start_line: 2, end_line: 2 } }],
        execute: async (args) => (await import("./lines.ts")).editLines(workspace, args),
      },
    },
  })
}

function editLinesAction(workspace: Workspace): ActionSpecification {
  return {
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
    execute: async (args) => (await import("./lines.ts")).editLines(workspace, args),
  }
}

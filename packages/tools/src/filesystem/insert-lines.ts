import { failure, type ToolDefinition } from "@toolwright/toolbox"
import { CHANGE_OUTPUT, EXPECTED_HASH } from "@toolwright/host/edit"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { PATH, PATH_ALIASES } from "./schemas.ts"

const LINE = { type: "integer", minimum: 1 } as const

/** Puts lines between those of a file, and takes nothing away: for whoever must not be able to destroy. */
export function createInsertLinesTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "insert_lines",
    title: "Insert lines",
    description: "Inserts lines into a file, before or after one of its lines. What is there stays.",
    category: "code",
    optionality: "optional",
    sets: ["filesystem"],
    usageHint:
      "Use when: lines belong between others: give either before_line or after_line; before_line 1 is the top. " +
      "Don't use when: they belong at the end (use append_file).",
    tags: ["filesystem", "write", "edit"],
    effects: { destructive: false, idempotent: false, writes: ["path"] },
    aliases: { arguments: { ...PATH_ALIASES, text: "content", line: "before_line" } },
    ...reconciledBy(workspace),
    parameters: {
      type: "object",
      properties: {
        path: PATH,
        before_line: { ...LINE, description: "The new lines come before this one, counted from 1" },
        after_line: { ...LINE, description: "The new lines come after this one, counted from 1" },
        content: { type: "string", description: "The lines to insert" },
        expected_hash: EXPECTED_HASH,
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    outputSchema: CHANGE_OUTPUT,
    examples: [
      { description: "Put a line at the top", input: { path: "notes.txt", before_line: 1, content: "# Notes" } },
    ],
    async execute(args) {
      const { before_line: before, after_line: after } = args as { before_line?: number; after_line?: number }
      if ((before === undefined) === (after === undefined)) {
        return failure({
          code: "INVALID_ARGUMENTS",
          message: "The call of 'insert_lines' needs either before_line or after_line, and not both.",
          hint: "before_line 1 is the top of the file.",
        })
      }
      return (await import("./add-lines.ts")).insertLinesAt(workspace, args, before ?? after! + 1)
    },
  })
}

import type { ToolDefinition } from "@toolwright/toolbox"
import { EXPECTED_HASH } from "@toolwright/host/edit"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { PATH, PATH_ALIASES } from "./schemas.ts"

/** Adds lines below those of a file, and takes nothing away: for whoever must not be able to destroy. */
export function createAppendFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "append_file",
    title: "Append to file",
    description: "Adds lines at the end of a file; creates the file where there is none. What is there stays.",
    category: "code",
    optionality: "optional",
    sets: ["filesystem"],
    usageHint: "Use when: lines belong at the end. Don't use when: they belong anywhere else (use insert_lines).",
    tags: ["filesystem", "write"],
    effects: { destructive: false, idempotent: false, writes: ["path"] },
    aliases: { arguments: { ...PATH_ALIASES, text: "content", line: "content", lines: "content" } },
    ...reconciledBy(workspace),
    parameters: {
      type: "object",
      properties: {
        path: PATH,
        content: { type: "string", description: "The lines to add" },
        expected_hash: EXPECTED_HASH,
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: { path: { type: "string" }, line_count: { type: "integer" }, hash: { type: "string" } },
      required: ["path", "line_count", "hash"],
    },
    examples: [{ description: "Add a line", input: { path: "notes.txt", content: "Buy milk" } }],
    execute: async (args) => (await import("./add-lines.ts")).appendLines(workspace, args),
  })
}

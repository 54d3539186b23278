import type { ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { WINDOW_OUTPUT_CHARS } from "@toolwright/host/text"
import { NAMED_PATH, PATH_ALIASES, TEXT_FILE } from "./schemas.ts"

let reading: Promise<typeof import("./read-text.ts")> | undefined

export function createReadTextFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "read_text_file",
    ruledAs: ["file_read"],
    sets: ["filesystem"],
    does: ["read a file"],
    title: "Read text file",
    description:
      "Reads a text file, whole or in part: the first lines (head), the last lines (tail), or a range of lines " +
      "(start_line, end_line). When head and tail are both given, head wins.",
    category: "code",
    optionality: "required",
    usageHint:
      "Prefer head, tail or a line range for long files. For images and other binary files use read_media_file.",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: { arguments: { ...PATH_ALIASES, offset: "start_line" } },
    maxOutputChars: WINDOW_OUTPUT_CHARS,
    parameters: {
      type: "object",
      properties: {
        path: NAMED_PATH,
        head: { type: "integer", minimum: 0, description: "Only the first lines, this many" },
        tail: { type: "integer", minimum: 0, description: "Only the last lines, this many" },
        start_line: { type: "integer", minimum: 1, description: "First line, counted from 1" },
        end_line: { type: "integer", minimum: 1, description: "Last line, included" },
      },
      required: ["path"],
      additionalProperties: false,
    },
    outputSchema: TEXT_FILE,
    examples: [
      { description: "Read a whole file", input: { path: "src/index.ts" } },
      { description: "The first two lines", input: { path: "notes.txt", head: 2 } },
      { description: "Lines 2 and 3", input: { path: "notes.txt", start_line: 2, end_line: 3 } },
    ],
    // Kept, since even a module that is loaded is looked up anew by every import.
    execute: async (args) => (await (reading ??= import("./read-text.ts"))).readText(workspace, args),
  })
}

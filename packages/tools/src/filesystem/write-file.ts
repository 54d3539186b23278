import type { ToolDefinition } from "@toolwright/toolbox"
import { EXPECTED_HASH } from "@toolwright/host/edit"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { PATH, PATH_ALIASES } from "./schemas.ts"

export function createWriteFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "write_file",
    ruledAs: ["file_write"],
    sets: ["filesystem"],
    title: "Write file",
    description: "Creates a file or replaces all of its content. The directory must exist.",
    category: "code",
    optionality: "required",
    usageHint: "For new files. To change a part of a file use edit_file: it is shorter and cannot lose the rest.",
    tags: ["filesystem", "write"],
    effects: { destructive: true, idempotent: true, writes: ["path"] },
    aliases: { arguments: { ...PATH_ALIASES, text: "content", contents: "content", data: "content" } },
    ...reconciledBy(workspace),
    parameters: {
      type: "object",
      properties: {
        path: PATH,
        content: { type: "string", description: "The whole new text" },
        expected_hash: EXPECTED_HASH,
      },
      required: ["path", "content"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        size_bytes: { type: "integer" },
        line_count: { type: "integer" },
        modified_time: { type: "number", description: "Seconds since 1970" },
        created: { type: "boolean" },
        hash: { type: "string" },
        replaced: {
          type: "object",
          properties: {
            size_bytes: { type: "integer" },
            line_count: { type: "integer" },
            hash: { type: "string" },
          },
          required: ["size_bytes", "hash"],
          description: "What was there before, where something was",
        },
        diff: { type: "string", description: "Lines that went and came, where a text was replaced" },
      },
      required: ["path", "size_bytes", "line_count", "modified_time", "created", "hash"],
    },
    examples: [
      {
        description: "Write a new file",
        input: { path: "src/greeting.ts", content: 'export const greeting = "hello"\n' },
      },
    ],
    preview: async (args) => (await import("./write-text.ts")).previewWrite(workspace, args),
    execute: async (args) => (await import("./write-text.ts")).writeText(workspace, args),
  })
}

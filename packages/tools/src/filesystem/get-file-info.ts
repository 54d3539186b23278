import { success, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { ENTRY_TYPE, PATH_ALIASES, PATH_OR_HERE } from "./schemas.ts"

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string", description: "Where it really lies, links followed" },
    type: ENTRY_TYPE,
    size_bytes: { type: "integer" },
    created_time: { type: "number", description: "Seconds since 1970, as the next two" },
    modified_time: { type: "number" },
    accessed_time: { type: "number" },
    permissions: { type: "string", description: "Octal, e.g. 644" },
    hard_links: { type: "integer", description: "Names that the file has; other ones may lie anywhere" },
    writable: { type: "boolean", description: "Whether tools may change it" },
  },
  required: [
    "path",
    "type",
    "size_bytes",
    "created_time",
    "modified_time",
    "accessed_time",
    "permissions",
    "hard_links",
    "writable",
  ],
}

export function createGetFileInfoTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "get_file_info",
    sets: ["filesystem"],
    title: "Get file info",
    description:
      "Tells what a file or directory is: type, size, times, permissions, and where it really lies when a link " +
      "leads to it.",
    category: "code",
    optionality: "optional",
    usageHint: "Use when: a file may be large. Don't use when: its text is wanted (use read_text_file).",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: { arguments: PATH_ALIASES },
    parameters: { type: "object", properties: { path: PATH_OR_HERE }, required: ["path"], additionalProperties: false },
    outputSchema: OUTPUT,
    examples: [{ description: "How large is it?", input: { path: "src/index.ts" } }],
    async execute(args) {
      const { stat, shown } = await workspace.stat(args["path"] as string)
      const data = {
        path: shown,
        type: stat.isFile() ? "file" : stat.isDirectory() ? "directory" : "other",
        size_bytes: stat.size,
        created_time: stat.birthtimeMs / 1000,
        modified_time: stat.mtimeMs / 1000,
        accessed_time: stat.atimeMs / 1000,
        permissions: (stat.mode & 0o7777).toString(8).padStart(3, "0"),
        hard_links: stat.nlink,
        writable: isWritable(workspace, shown),
      }
      const lines = Object.entries(data).map(
        ([key, value]) => `${key}: ${key.endsWith("_time") ? timeText(value as number) : value}`,
      )
      return success({ output: lines.join("\n"), data })
    },
  })
}

function isWritable(workspace: Workspace, path: string): boolean {
  try {
    workspace.locate(path, "write")
    return true
  } catch {
    return false
  }
}

function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

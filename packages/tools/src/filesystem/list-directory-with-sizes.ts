import { success, type ToolDefinition, type JsonSchema } from "@toolwright/toolbox"
import { definePathTool, kindOf, type Workspace } from "@toolwright/host/paths"
import { byName, entryLabel, listingText } from "./list-directory.ts"
import { ENTRY_TYPE, PATH_ALIASES, PATH_OR_HERE } from "./schemas.ts"

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    entries: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          type: ENTRY_TYPE,
          size_bytes: { type: "integer", description: "Of files; of a link, the link's own" },
          modified_time: { type: "number" },
        },
        required: ["name", "type", "size_bytes", "modified_time"],
      },
    },
    total_files: { type: "integer" },
    total_directories: { type: "integer" },
    total_size_bytes: { type: "integer", description: "Of the files" },
  },
  required: ["path", "entries", "total_files", "total_directories", "total_size_bytes"],
}

export function createListDirectoryWithSizesTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "list_directory_with_sizes",
    sets: ["filesystem"],
    title: "List directory with sizes",
    description:
      "Lists the files and subdirectories of a directory with sizes and times, by name or by size (largest " +
      "first), and totals.",
    category: "code",
    optionality: "optional",
    usageHint: "Use when: sizes matter. Don't use when: they do not (use list_directory, which is faster).",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: { arguments: { ...PATH_ALIASES, sortBy: "sort_by" } },
    maxOutputChars: 30_000,
    parameters: {
      type: "object",
      properties: {
        path: PATH_OR_HERE,
        sort_by: { type: "string", enum: ["name", "size"], description: "name unless given" },
      },
      required: ["path"],
      additionalProperties: false,
    },
    outputSchema: OUTPUT,
    examples: [{ description: "The largest files first", input: { path: ".", sort_by: "size" } }],
    async execute(args) {
      const { path, sort_by = "name" } = args as { path: string; sort_by?: "name" | "size" }
      const { entries, stats, shown, denied } = await workspace.list(path, (all) => all)
      const listed = byName(entries).flatMap((entry) => {
        const stat = stats.get(entry.name)
        if (stat === undefined) return []
        const type = kindOf(entry)
        const size = type === "directory" ? 0 : stat.size
        return [{ name: entry.name, type, size_bytes: size, modified_time: stat.mtimeMs / 1000 }]
      })
      if (sort_by === "size") listed.sort((a, b) => b.size_bytes - a.size_bytes)
      const files = listed.filter((entry) => entry.type === "file")
      const totals = {
        total_files: files.length,
        total_directories: listed.filter((entry) => entry.type === "directory").length,
        total_size_bytes: files.reduce((sum, file) => sum + file.size_bytes, 0),
      }
      const lines = listed.map(
        (entry) => `${entry.type === "file" ? readableSize(entry.size_bytes) : "-"}\t${entryLabel(entry)}`,
      )
      const summary =
        `Total: ${totals.total_files} files, ${totals.total_directories} directories, ` +
        `${readableSize(totals.total_size_bytes)}`
      return success({
        output: `${listingText(lines, denied)}\n${summary}`,
        data: { path: shown, entries: listed, ...totals },
      })
    },
  })
}

/** Bytes as people read them; 1 KB is 1024 bytes. */
export function readableSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"]
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit += 1
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`
}

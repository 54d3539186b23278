import type { Dirent } from "node:fs"
import { success, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, kindOf, type Workspace } from "@toolwright/host/paths"
import { visibleName } from "@toolwright/host/text"
import { ENTRY_TYPE, PATH_ALIASES, PATH_OR_HERE } from "./schemas.ts"

/** Lines of a listing that a model is shown. */
export const LISTING_LINES = 1000

export function createListDirectoryTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "list_directory",
    sets: ["filesystem"],
    does: ["list a directory"],
    title: "List directory",
    description: "Lists the files and subdirectories of a directory, by name.",
    category: "code",
    optionality: "required",
    usageHint: "For what lies deeper use get_directory_tree, for files by name search_files.",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    aliases: { arguments: PATH_ALIASES },
    maxOutputChars: 30_000,
    parameters: { type: "object", properties: { path: PATH_OR_HERE }, required: ["path"], additionalProperties: false },
    outputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        entries: {
          type: "array",
          items: {
            type: "object",
            properties: { name: { type: "string" }, type: ENTRY_TYPE },
            required: ["name", "type"],
          },
        },
        total: { type: "integer" },
      },
      required: ["path", "entries", "total"],
    },
    examples: [{ description: "List the workspace", input: { path: "." } }],
    async execute(args) {
      const { entries, shown, denied } = await workspace.list(args["path"] as string)
      const listed = byName(entries).map((entry) => ({ name: entry.name, type: kindOf(entry) }))
      return success({
        output: listingText(listed.map(entryLabel), denied),
        data: { path: shown, entries: listed, total: listed.length },
      })
    },
  })
}

export function byName(entries: readonly Dirent[]): Dirent[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}

/** A name as listings show it: directories end with `/`, links with `@`. */
export function entryLabel({ name, type }: { name: string; type: string }): string {
  return visibleName(name) + (type === "directory" ? "/" : type === "symlink" ? "@" : "")
}

/** @param denied how many entries the path rules keep from everybody */
export function listingText(lines: readonly string[], denied = 0): string {
  const shown = lines.slice(0, LISTING_LINES)
  if (lines.length === 0) shown.push(denied === 0 ? "(empty)" : "(nothing that may be seen)")
  if (lines.length > LISTING_LINES)
    shown.push(`[${LISTING_LINES} of ${lines.length} entries. Use search_files with a pattern to find the others.]`)
  if (denied > 0) shown.push(deniedNote(denied))
  return shown.join("\n")
}

/** What a listing says of entries that it keeps to itself. */
export function deniedNote(denied: number): string {
  return `[${denied} protected ${denied === 1 ? "entry is" : "entries are"} not shown.]`
}

import { success, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { PATH, PATH_ALIASES } from "./schemas.ts"

export function createCreateDirectoryTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "create_directory",
    sets: ["filesystem", "general"],
    does: ["make a directory"],
    title: "Create directory",
    description: "Creates a directory and the missing ones above it. One that exists already is left as it is.",
    category: "code",
    optionality: "optional",
    usageHint: "Use when: write_file needs a directory that does not exist. Don't use when: it exists.",
    tags: ["filesystem", "write"],
    effects: { destructive: false, idempotent: true, writes: ["path"] },
    aliases: { arguments: PATH_ALIASES },
    ...reconciledBy(workspace),
    parameters: { type: "object", properties: { path: PATH }, required: ["path"], additionalProperties: false },
    outputSchema: {
      type: "object",
      properties: { path: { type: "string" }, created: { type: "boolean" } },
      required: ["path", "created"],
    },
    examples: [{ description: "Create nested directories", input: { path: "docs/guides" } }],
    async execute(args) {
      const { shown, created } = await workspace.makeDirectory(args["path"] as string)
      return success({
        output: created ? `Created ${shown}.` : `${shown} exists already.`,
        data: { path: shown, created },
        modifiedFiles: created ? [shown] : [],
      })
    },
  })
}

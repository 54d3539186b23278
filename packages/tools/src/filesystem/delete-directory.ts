import { success, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { NAMED_PATH, PATH_ALIASES } from "./schemas.ts"

export function createDeleteDirectoryTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "delete_directory",
    ruledAs: ["delete_file", "file_delete"],
    sets: ["filesystem"],
    does: ["delete a directory"],
    asks: true,
    title: "Delete directory",
    description: "Deletes an empty directory, or with recursive one with everything in it. No tool brings it back.",
    category: "code",
    optionality: "optional",
    usageHint:
      "Use when: a directory is to go with all that is in it; links inside go, what they point to does not. " +
      "Don't use when: it is an allowed directory itself or holds a repository's own state, which stay.",
    tags: ["filesystem", "write", "delete"],
    effects: { destructive: true, idempotent: false, writes: ["path"] },
    aliases: { arguments: PATH_ALIASES },
    ...reconciledBy(workspace),
    parameters: {
      type: "object",
      properties: {
        path: NAMED_PATH,
        recursive: { type: "boolean", description: "Delete what is in it too; false unless given" },
      },
      required: ["path"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        path: { type: "string" },
        removed: { type: "integer", description: "Files and directories removed" },
      },
      required: ["path", "removed"],
    },
    examples: [{ description: "Delete a directory and its content", input: { path: "src", recursive: true } }],
    async execute(args) {
      const { shown, removed } = await workspace.removeDirectory(args["path"] as string, args["recursive"] === true)
      return success({
        output: `Deleted ${shown} (${removed} ${removed === 1 ? "entry" : "entries"}).`,
        data: { path: shown, removed },
        modifiedFiles: [shown],
      })
    },
  })
}

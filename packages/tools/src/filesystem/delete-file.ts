import { success, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { NAMED_PATH, PATH_ALIASES } from "./schemas.ts"

export function createDeleteFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "delete_file",
    ruledAs: ["file_delete"],
    sets: ["filesystem", "general"],
    does: ["delete a file"],
    asks: true,
    title: "Delete file",
    description: "Deletes a file, or a symbolic link itself. No tool brings it back.",
    category: "code",
    optionality: "optional",
    usageHint: "Use when: a file is to go for good. Don't use when: it is a directory (use delete_directory).",
    tags: ["filesystem", "write", "delete"],
    effects: { destructive: true, idempotent: false, writes: ["path"] },
    aliases: { arguments: PATH_ALIASES },
    ...reconciledBy(workspace),
    parameters: { type: "object", properties: { path: NAMED_PATH }, required: ["path"], additionalProperties: false },
    outputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    examples: [{ description: "Delete a file", input: { path: "notes.txt" } }],
    async execute(args) {
      const { shown } = await workspace.removeFile(args["path"] as string)
      return success({ output: `Deleted ${shown}.`, data: { path: shown }, modifiedFiles: [shown] })
    },
  })
}

import { success, type ToolDefinition } from "@toolwright/toolbox"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { NAMED_PATH } from "./schemas.ts"

export function createMoveFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "move_file",
    ruledAs: ["delete_file", "file_delete"],
    sets: ["filesystem", "general"],
    asks: true,
    title: "Move file",
    description:
      "Moves or renames a file or directory. The destination must not exist, its directory must. A symbolic link " +
      "is moved itself.",
    category: "code",
    optionality: "optional",
    usageHint:
      "Use when: a file or directory gets another name or place; the destination has its new name. Don't use " +
      "when: the old one must stay.",
    tags: ["filesystem", "write"],
    effects: { destructive: true, idempotent: false, writes: ["source", "destination"] },
    aliases: {
      arguments: { from: "source", to: "destination", src: "source", dest: "destination", target: "destination" },
    },
    ...reconciledBy(workspace),
    parameters: {
      type: "object",
      properties: { source: NAMED_PATH, destination: NAMED_PATH },
      required: ["source", "destination"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: { source: { type: "string" }, destination: { type: "string" } },
      required: ["source", "destination"],
    },
    examples: [{ description: "Rename a file", input: { source: "notes.txt", destination: "old-notes.txt" } }],
    async execute(args) {
      const moved = await workspace.move(args["source"] as string, args["destination"] as string)
      return success({
        output: `Moved ${moved.source} to ${moved.destination}.`,
        data: moved,
        modifiedFiles: [moved.source, moved.destination],
      })
    },
  })
}

import { defineTool, success, type ToolDefinition } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"

export function createListAllowedDirectoriesTool(workspace: Workspace): ToolDefinition {
  return defineTool({
    name: "list_allowed_directories",
    sets: ["filesystem"],
    title: "List allowed directories",
    description: "Lists the directories that file tools may touch, and whether they may write there.",
    category: "code",
    optionality: "optional",
    usageHint:
      "Use when: paths are unknown, first of all. Don't use when: they are relative to the first directory, " +
      "where relative paths are resolved.",
    tags: ["filesystem", "read"],
    effects: { readOnly: true, idempotent: true },
    parameters: { type: "object", properties: {}, additionalProperties: false },
    outputSchema: {
      type: "object",
      properties: {
        directories: {
          type: "array",
          items: {
            type: "object",
            properties: { path: { type: "string" }, access: { type: "string", enum: ["read-only", "read-write"] } },
            required: ["path", "access"],
          },
        },
      },
      required: ["directories"],
    },
    examples: [{ description: "Where may I work?", input: {} }],
    execute: () => {
      const directories = workspace.roots.map(({ path, access }) => ({ path, access }))
      return success({
        output: directories.map(({ path, access }) => `${path} (${access})`).join("\n"),
        data: { directories },
      })
    },
  })
}

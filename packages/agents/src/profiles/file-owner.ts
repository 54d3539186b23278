import { TASK_COMPLETE, type AgentProfile } from "./profile.ts"

/** What such an agent answers when it has done its work. */
export const FILE_OWNER_DONE = "Code generation completed using MCP tools"

const ARTIFACT = {
  element_type: "function",
  element_data: {
    name: "area",
    docstring: "Area of a rectangle",
    parameters: [
      { name: "width", type: "float", default: null },
      { name: "height", type: "float", default: null },
    ],
    return_type: "float",
    body: "return width * height",
  },
}

/**
 * The prompt of one task for the owner of one file: the file, the task, the four steps and the form of an artifact.
 *
 * @param file the file that the agent owns, relative to the workspace
 * @param task what is to be done, in the user's words
 */
export function fileOwnerPrompt(file: string, task: string): string {
  return `You own the file ${file} and write nothing else.

Task: ${task}

Work in four steps, all of them tool calls:
1. Create or update the code with the workspace tool, one JSON artifact for each element.
2. Check it with the validation tool.
3. Fix what the report names and validate again, until everything passes.
4. Commit with the git_operations tool.

A JSON artifact for a function looks like this (other element types: class, method, dataclass, interface, import, variable):
${JSON.stringify(ARTIFACT, null, 2)}

Start by calling the workspace tool.`
}

/**
 * Owns one file and writes it through JSON artifacts only: the file's text comes from templates, so it is always well
 * formed.
 * It has no other way to write.
 */
export const fileOwnerProfile: AgentProfile = {
  name: "file-owner",
  description: "Owns one file and writes it as JSON artifacts through templates",
  systemPrompt:
    "You are a developer who owns one file of a project. A template turns your JSON artifacts into its text.",
  tools: { only: ["workspace", "validation", "git_operations"] },
  completion: { signal: TASK_COMPLETE, requireToolUse: true, requireValidation: true, successMessage: FILE_OWNER_DONE },
  changesWorkspace: true,
}

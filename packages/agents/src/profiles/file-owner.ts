import { TASK_COMPLETE, type AgentProfile } from "./profile.ts"

/** What its response says when the work is done, checked and committed: the form of the wire (`AgentResponse`). */
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
 * The prompt of one task for the owner of files: the files, the task, the four steps and the form of an artifact.
 *
 * @param files the files that the agent owns, relative to the workspace
 * @param task what is to be done, in the user's words
 */
export function fileOwnerPrompt(files: readonly [string, ...string[]], task: string): string {
  const [first, ...more] = files
  // The first is the one that the work is about: the others are there for it, as its tests are.
  const owned = `the file ${first}${more.length === 0 ? "" : ` and what belongs to it, ${more.join(", ")},`}`
  return `You own ${owned} and write nothing else.

Task: ${task}

Work in four steps, all of them tool calls:
1. Create or update the code, one JSON artifact for each element.
2. Validate it.
3. Fix what the report names and validate again, until everything passes.
4. Commit it.

A JSON artifact for a function looks like this (other element types: class, method, dataclass, interface, import, \
variable):
${JSON.stringify(ARTIFACT, null, 2)}

Start with the first artifact.`
}

/**
 * Owns its files and writes them through JSON artifacts only: a file's text comes from templates, so it is always well
 * formed.
 * It has no other way to write.
 */
export const fileOwnerProfile: AgentProfile = {
  name: "file-owner",
  description: "Owns files and writes them as JSON artifacts through templates",
  systemPrompt:
    "You are a developer who owns one file of a project. A template turns your JSON artifacts into its text.",
  tools: { sets: ["owner"] },
  declared: "all",
  completion: {
    signal: TASK_COMPLETE,
    requireToolUse: true,
    requireValidation: true,
    requireCommit: true,
    successMessage: "The file was written, checked and committed.",
  },
  changesWorkspace: true,
  ownsFiles: true,
}

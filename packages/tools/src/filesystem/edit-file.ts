import { failure, type JsonObject, type ToolDefinition, type ToolResult, type JsonSchema } from "@toolwright/toolbox"
import { type Edit, CHANGE_OUTPUT, EXPECTED_HASH } from "@toolwright/host/edit"
import { definePathTool, type Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { NAMED_PATH, PATH_ALIASES } from "./schemas.ts"

const EDIT = {
  old_text: {
    type: "string",
    description: "What is there now, copied exactly, with enough lines around it to be unique",
  },
  new_text: { type: "string", description: "What to put there" },
  replace_all: { type: "boolean", description: "Replace every occurrence instead of exactly one; false unless given" },
}

const PARAMETERS: JsonSchema = {
  type: "object",
  properties: {
    path: NAMED_PATH,
    ...EDIT,
    edits: {
      type: "array",
      minItems: 1,
      maxItems: 100,
      items: { type: "object", properties: EDIT, required: ["old_text", "new_text"], additionalProperties: false },
      description: "Several replacements, instead of old_text and new_text; each is looked up in the original file",
    },
    dry_run: { type: "boolean", description: "Only show the diff; false unless given" },
    expected_hash: EXPECTED_HASH,
  },
  required: ["path"],
  additionalProperties: false,
}

const EXAMPLES: NonNullable<ToolDefinition["examples"]> = [
  {
    description: "Change a value",
    input: { path: "src/index.ts", old_text: "answer = 41", new_text: "answer = 42" },
  },
  {
    description: "Try two changes without writing",
    input: {
      path: "notes.txt",
      edits: [
        { old_text: "first", new_text: "1st" },
        { old_text: "second", new_text: "2nd" },
      ],
      dry_run: true,
    },
  },
]

export function createEditFileTool(workspace: Workspace): ToolDefinition {
  return definePathTool({
    name: "edit_file",
    ruledAs: ["file_replace", "code_edit"],
    sets: ["filesystem"],
    title: "Edit file",
    description:
      "Replaces exact texts in a file: one (old_text, new_text) or several (edits). All are applied or none. " +
      "Each old_text must be in the file exactly once, unless replace_all is true. Returns a diff.",
    category: "code",
    optionality: "required",
    usageHint:
      "Read the file first and copy old_text from it. When a change is refused, the answer shows what the file " +
      "holds instead; correct the call with that.",
    tags: ["filesystem", "write", "edit"],
    effects: { destructive: false, idempotent: false, writes: ["path"] },
    maxOutputChars: 10_000,
    aliases: {
      arguments: {
        ...PATH_ALIASES,
        "edits[].oldText": "old_text",
        "edits[].newText": "new_text",
        oldText: "old_text",
        newText: "new_text",
        old_string: "old_text",
        new_string: "new_text",
        dryRun: "dry_run",
        replaceAll: "replace_all",
      },
    },
    ...reconciledBy(workspace),
    parameters: PARAMETERS,
    outputSchema: CHANGE_OUTPUT,
    examples: EXAMPLES,
    async preview(args) {
      const edits = editsOf(args)
      if (!Array.isArray(edits)) return undefined
      const { editFile } = await import("@toolwright/host/edit")
      const tried = await editFile(workspace, args["path"] as string, edits, { dryRun: true }).catch(() => undefined)
      return tried?.success === true ? (tried.data as { diff: string }).diff : undefined
    },
    async execute(args) {
      const {
        path,
        dry_run = false,
        expected_hash,
      } = args as { path: string; dry_run?: boolean; expected_hash?: string }
      const edits = editsOf(args)
      if (!Array.isArray(edits)) return edits
      const { editFile } = await import("@toolwright/host/edit")
      return editFile(workspace, path, edits, { dryRun: dry_run, expectedHash: expected_hash })
    },
  })
}

function editsOf(args: JsonObject): Edit[] | ToolResult {
  const { path, old_text, new_text, replace_all, edits } = args as { path: string; edits?: Edit[] } & Partial<Edit>
  const single = old_text !== undefined || new_text !== undefined
  if (edits !== undefined && !single) return edits
  if (edits === undefined && old_text !== undefined && new_text !== undefined) {
    return [{ old_text, new_text, ...(replace_all === undefined ? {} : { replace_all }) }]
  }
  const missing = old_text === undefined ? "old_text" : "new_text"
  const correct = {
    path,
    old_text: old_text ?? "the text that is there",
    new_text: new_text ?? "the text to put there",
  }
  return failure({
    code: "INVALID_ARGUMENTS",
    message:
      edits !== undefined
        ? "The call of 'edit_file' gives both edits and old_text or new_text; give one or the other."
        : `The call of 'edit_file' lacks ${single ? missing : "old_text and new_text"}.`,
    hint: `A correct call: ${JSON.stringify({ name: "edit_file", arguments: correct })}`,
  })
}

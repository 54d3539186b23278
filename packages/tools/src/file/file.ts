import { success, type JsonSchema, type ToolDefinition } from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { Workspace } from "@toolwright/host/paths"
import { reconciledBy } from "@toolwright/host/undo"
import { WINDOW_OUTPUT_CHARS } from "@toolwright/host/text"
import { grounded } from "../ground/grounded.ts"

const path: JsonSchema = {
  type: "string",
  description: "File path: absolute, or relative to the first allowed directory",
}
/** The path of a file that is there. */
const existing = grounded(path, "path")
const content: JsonSchema = { type: "string", description: "The text" }
const changes = { destructive: false, idempotent: false, writes: ["path"] } as const

const ALIASES: NonNullable<ToolDefinition["aliases"]> = {
  arguments: {
    file_path: "path",
    file: "path",
    filename: "path",
    text: "content",
    old_string: "old_text",
    new_string: "new_text",
  },
}

/** The `file` tool of coding agents: whole-file reading and writing, and replacing a text in a file. */
export function createFileTool(workspace: Workspace): ToolDefinition {
  return defineMultiActionTool({
    name: "file",
    sets: ["coding", "reading", "db-migrations", "general"],
    title: "File",
    description: "Reads, writes, appends to and deletes files, and replaces text in them.",
    category: "code",
    optionality: "required",
    usageHint: "Read a file before you change it. To change lines by their numbers use code_edit.",
    tags: ["filesystem", "code"],
    effects: { writes: ["path"], reads: ["path"] },
    ...reconciledBy(workspace),
    maxOutputChars: WINDOW_OUTPUT_CHARS,
    aliases: ALIASES,
    outputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
    preview: async (args) =>
      args["action"] === "write"
        ? (await import("../filesystem/write-text.ts")).previewWrite(workspace, args)
        : undefined,
    actions: {
      read: readAction(workspace),
      write: {
        description: "Creates a file, with the directories above it, or replaces all of its content.",
        sets: ["essential"],
        ruledAs: ["write_file"],
        properties: { path, content },
        required: ["path", "content"],
        effects: { destructive: true, idempotent: true, writes: ["path"] },
        examples: [{ description: "Write a file", input: { path: "notes.txt", content: "first line\n" } }],
        execute: async (args) =>
          (await import("../filesystem/write-text.ts")).writeText(workspace, args, { makesParents: true }),
      },
      replace: replaceAction(workspace),
      append: {
        description:
          "Adds text at the end of a file; creates it, with the directories above it, when it does not exist.",
        ruledAs: ["write_file", "edit_file"],
        properties: { path: existing, content },
        required: ["path", "content"],
        effects: changes,
        examples: [{ description: "Add a line", input: { path: "notes.txt", content: "one more line\n" } }],
        execute: async (args) => (await import("./append.ts")).appendText(workspace, args),
      },
      delete: {
        description: "Deletes a file.",
        ruledAs: ["delete_file"],
        does: ["delete a file"],
        asks: true,
        properties: { path: existing },
        required: ["path"],
        effects: { destructive: true, idempotent: true, writes: ["path"] },
        examples: [{ description: "Delete a file", input: { path: "notes.txt" } }],
        execute: async (args) => {
          const { shown } = await workspace.removeFile(args["path"] as string)
          return success({ output: `Deleted ${shown}.`, data: { path: shown }, modifiedFiles: [shown] })
        },
      },
    },
  })
}

function readAction(workspace: Workspace): ActionSpecification {
  return {
    description: "Reads a text file.",
    sets: ["essential"],
    ruledAs: ["read_text_file"],
    does: ["read a file"],
    properties: {
      path: existing,
      start_line: { type: "integer", minimum: 1, description: "First line, counted from 1" },
      end_line: { type: "integer", minimum: 1, description: "Last line, included" },
    },
    required: ["path"],
    effects: { readOnly: true, idempotent: true, reads: ["path"] },
    examples: [{ description: "Read a file", input: { path: "src/index.ts" } }],
    execute: async (args) => (await import("../filesystem/read-text.ts")).readText(workspace, args),
  }
}

function replaceAction(workspace: Workspace): ActionSpecification {
  return {
    ruledAs: ["edit_file", "code_edit"],
    sets: ["essential"],
    brief: [],
    description: "Replaces a text in a file. The text must be there exactly once, unless replace_all is true.",
    properties: {
      path: existing,
      old_text: { type: "string", description: "What is there now, copied exactly" },
      new_text: { type: "string", description: "What to put there" },
      replace_all: { type: "boolean", description: "Replace every occurrence; false unless given" },
    },
    required: ["path", "old_text", "new_text"],
    effects: changes,
    examples: [
      {
        description: "Change a value",
        input: { path: "src/index.ts", old_text: "answer = 41", new_text: "answer = 42" },
      },
    ],
    execute: async (args) => {
      const { path, ...edit } = args as { path: string; old_text: string; new_text: string; replace_all?: boolean }
      return (await import("@toolwright/host/edit")).editFile(workspace, path, [edit])
    },
  }
}

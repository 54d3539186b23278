import type { JsonObject, ToolContext, ToolDefinition } from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { Workspace } from "@toolwright/host/paths"
import { ANYTHING, ARTIFACT, DOCSTRING, OVERWRITE, PARAMETERS, PATH, text, WORKSPACE_OUTPUT } from "./schemas.ts"
import type { FileTemplates } from "./templates.ts"

const CHANGE = { path: PATH, overwrite: OVERWRITE }
const WRITING = { readOnly: false, idempotent: true, writes: ["path"] } as const

type Action = keyof typeof RUN

/** What the actions work on. */
interface Artifacts {
  workspace: Workspace
  templates: FileTemplates
}

type Run = (on: Artifacts, args: JsonObject, context: ToolContext) => Promise<unknown>

const code = () => import("./actions.ts")

/** What each action does. */
const RUN = {
  read: async (on, args) => (await code()).readFile(on.workspace, args),
  write: async (on, args, { signal }) => (await code()).writeArtifact(on, args, signal),
  create_dir: async (on, args) => (await code()).createDirectory(on.workspace, args),
  create_file: async (on, args, { signal }) => (await code()).createFile(on, args, signal),
  add_import: async (on, args, { signal }) => (await code()).addElement(on, "import", args, signal),
  add_variable: async (on, args, { signal }) => (await code()).addElement(on, "variable", args, signal),
  add_class: async (on, args, { signal }) => (await code()).addElement(on, "class", args, signal),
  add_function: async (on, args, { signal }) => (await code()).addElement(on, "function", args, signal),
  add_field: async (on, args, { signal }) => (await code()).addField(on, args, signal),
  complete_file: async (on, args, { signal }) => (await code()).completeFile(on, args, signal),
  list: async (on, args) => (await code()).listArtifacts(on.workspace, args),
} satisfies Record<string, Run>

/** What each action is told as, and what it takes. */
const ABOUT: Readonly<Record<Action, Omit<ActionSpecification, "execute">>> = {
  read: {
    description: "Read a file, and the artifacts that it was made of",
    properties: { path: PATH },
    required: ["path"],
    effects: { readOnly: true, reads: ["path"] },
    examples: [{ description: "Read a source file", input: { path: "src/index.ts" } }],
  },
  write: {
    description:
      "Put a function, class, import or variable into a file; one of the same name is replaced, everything else stays",
    properties: { ...CHANGE, json_artifact: ARTIFACT },
    required: ["path", "json_artifact"],
    effects: WRITING,
    examples: [
      {
        description: "Write a function",
        input: {
          path: "src/greeting.ts",
          json_artifact: {
            element_type: "function",
            element_data: {
              name: "greet",
              docstring: "Greets somebody.",
              parameters: [{ name: "name", type: "string" }],
              return_type: "string",
              body: "return `Hello, ${name}!`",
            },
          },
        },
      },
    ],
  },
  create_dir: {
    description: "Create a directory and those above it",
    properties: { path: text("Directory, from the workspace's top.") },
    required: ["path"],
    effects: WRITING,
    examples: [{ description: "Make a folder for tests", input: { path: "tests/unit" } }],
  },
  create_file: {
    description: "Begin a file, to be filled with the add actions",
    properties: { ...CHANGE, docstring: DOCSTRING },
    required: ["path"],
    effects: WRITING,
    examples: [{ description: "Begin a file", input: { path: "src/board.ts", docstring: "The board." } }],
  },
  add_import: {
    description: "Add an import to a file",
    properties: {
      ...CHANGE,
      module: text("Module."),
      names: {
        type: "array",
        items: { type: "string" },
        description: "What to import from it; the module itself without.",
      },
      alias: text("Another name."),
      default: text("Name of the default import."),
    },
    required: ["path", "module"],
    effects: WRITING,
    examples: [
      {
        description: "Import two names",
        input: { path: "src/board.ts", module: "./pieces.ts", names: ["King", "Queen"] },
      },
    ],
  },
  add_variable: {
    description: "Add a variable or constant to a file",
    properties: {
      ...CHANGE,
      name: text("Name."),
      type: text("Type."),
      value: ANYTHING,
      docstring: DOCSTRING,
      mutable: { type: "boolean" },
    },
    required: ["path", "name", "value"],
    effects: WRITING,
    examples: [
      { description: "Add a constant", input: { path: "src/board.ts", name: "SIZE", type: "number", value: 8 } },
    ],
  },
  add_class: {
    description: "Add a class, dataclass or interface to a file",
    properties: {
      ...CHANGE,
      name: text("Name."),
      kind: { type: "string", enum: ["class", "dataclass", "interface"] },
      docstring: DOCSTRING,
      bases: { type: "array", items: { type: "string" } },
    },
    required: ["path", "name"],
    effects: WRITING,
    examples: [
      { description: "Add a class", input: { path: "src/board.ts", name: "Board", docstring: "All squares." } },
    ],
  },
  add_function: {
    description: "Add a function to a file, or a method to one of its classes",
    properties: {
      ...CHANGE,
      name: text("Name."),
      class_name: text("The class, for a method."),
      docstring: DOCSTRING,
      parameters: PARAMETERS,
      return_type: text("Type of the result."),
      body: text("The statements inside, without the header."),
      decorators: { type: "array", items: { type: "string" } },
      async: { type: "boolean" },
      static: { type: "boolean" },
    },
    required: ["path", "name", "body"],
    effects: WRITING,
    examples: [
      {
        description: "Add a method to the class",
        input: {
          path: "src/board.ts",
          class_name: "Board",
          name: "size",
          return_type: "number",
          body: "return SIZE",
        },
      },
    ],
  },
  add_field: {
    description: "Add a field to a class of a file",
    properties: {
      ...CHANGE,
      class_name: text("The class."),
      name: text("Name."),
      type: text("Type."),
      default: ANYTHING,
      docstring: DOCSTRING,
    },
    required: ["path", "class_name", "name"],
    effects: WRITING,
    examples: [
      {
        description: "Add a field to the class",
        input: { path: "src/board.ts", class_name: "Board", name: "squares", type: "string[]", default: [] },
      },
    ],
  },
  complete_file: {
    description: "Say that a file is finished; what is missing is told",
    properties: { path: PATH },
    required: ["path"],
    effects: WRITING,
    examples: [{ description: "Nothing is missing any more", input: { path: "src/board.ts" } }],
  },
  list: {
    description: "List the elements of a file, or all files made from artifacts",
    properties: { path: PATH },
    effects: { readOnly: true },
    examples: [{ description: "Which files were made from artifacts?", input: {} }],
  },
}

/**
 * The `workspace` tool: source files made of JSON artifacts. A model describes functions and classes as data; the
 * file's text comes from templates, and is written only when it can be parsed.
 */
export function createWorkspaceTool(workspace: Workspace, templates: FileTemplates = {}): ToolDefinition {
  const on = { workspace, templates }
  const actions = Object.entries(RUN).map(([name, run]): [string, ActionSpecification] => [
    name,
    { ...ABOUT[name as Action], execute: (args, context) => run(on, args, context) },
  ])
  return defineMultiActionTool({
    name: "workspace",
    sets: ["owner"],
    title: "Workspace",
    description: "Manage workspace files with JSON artifacts",
    category: "code",
    optionality: "required",
    // A whole file can be made with these; the add actions are other ways to the same.
    brief: ["read", "write", "list", "path"],
    usageHint:
      "Describe each function or class as an artifact; the file's text is made from it. Run validation after the " +
      "last change.",
    tags: ["files", "artifacts"],
    produces: ["source file"],
    aliases: {
      arguments: { file_path: "path", artifact: "json_artifact", operation: "action" },
    },
    effects: { readOnly: false, writes: ["path"] },
    actions: Object.fromEntries(actions),
    outputSchema: WORKSPACE_OUTPUT,
    timeoutMs: 60_000,
  })
}

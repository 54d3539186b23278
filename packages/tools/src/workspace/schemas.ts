import type { JsonSchema } from "@toolwright/toolbox"

/** A text argument. */
export const text = (description: string): JsonSchema => ({ type: "string", description })
export const PATH = text("File, from the workspace's top: src/game/board.py, src/board.ts")
export const OVERWRITE: JsonSchema = {
  type: "boolean",
  description: "Replace a file that was not made from artifacts or was changed since.",
}
export const DOCSTRING = text("Documentation.")
export const ANYTHING: JsonSchema = { description: 'A JSON value, or { "code": "…" } for an expression.' }
export const PARAMETERS: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { name: text("Name."), type: text("Type."), default: ANYTHING },
    required: ["name"],
  },
  description: "Parameters in order.",
}
export const ARTIFACT: JsonSchema = {
  type: "object",
  description: "A part of the file: what it is, and its data.",
  properties: {
    element_type: {
      type: "string",
      enum: ["function", "method", "class", "dataclass", "interface", "import", "variable"],
    },
    element_data: {
      type: "object",
      description:
        "function: name, docstring, parameters [{name, type, default}], return_type, body. method: the same and " +
        "class_name. " +
        "class, dataclass, interface: name, docstring, bases, fields, methods. import: module, names, alias. " +
        "variable: name, type, value.",
    },
  },
  required: ["element_type", "element_data"],
}

/** What the actions answer: a file that was read, a change, a list, or a directory. */
export const WORKSPACE_OUTPUT: JsonSchema = {
  type: "object",
  anyOf: [
    {
      title: "read",
      properties: {
        path: { type: "string" },
        content: { type: "string" },
        elements: { type: ["array", "null"], description: "The artifacts of a generated file." },
        complete: { type: ["boolean", "null"] },
      },
      required: ["path", "content"],
    },
    {
      title: "write, create_file, complete_file and the add actions",
      properties: {
        path: { type: "string" },
        created: { type: "boolean" },
        changed: { type: "boolean" },
        language: { type: "string" },
        elements: { type: "array" },
        complete: { type: "boolean" },
        state: text("Where its state is kept."),
        syntax: { type: "string", enum: ["passed", "skipped"] },
      },
      required: ["path", "changed", "elements"],
    },
    {
      title: "list of one file",
      properties: { path: { type: "string" }, complete: { type: "boolean" }, elements: { type: "array" } },
      required: ["path", "elements"],
    },
    { title: "list", properties: { files: { type: "array", items: { type: "string" } } }, required: ["files"] },
    {
      title: "create_dir",
      properties: { path: { type: "string" }, created: { type: "boolean" } },
      required: ["path", "created"],
    },
  ],
}

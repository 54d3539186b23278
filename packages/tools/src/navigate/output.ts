import type { JsonSchema } from "@toolwright/toolbox"

const PLACE: Record<string, JsonSchema> = {
  path: { type: "string" },
  line: { type: "integer" },
  column: { type: "integer" },
  role: { type: "string", enum: ["definition", "import", "call", "reference"] },
  text: { type: "string" },
}
const PLACES: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { ...PLACE, kind: { type: "string" }, end_line: { type: "integer" }, within: { type: "string" } },
    required: ["path", "line", "column", "role", "text"],
  },
}
/** What the actions answer: symbols, imports, places of a name, or entries of a directory. */
export const NAVIGATE_OUTPUT: JsonSchema = {
  type: "object",
  anyOf: [
    {
      title: "outline",
      properties: {
        path: { type: "string" },
        language: { type: "string" },
        symbols: {
          type: "array",
          items: {
            type: "object",
            properties: {
              name: { type: "string" },
              kind: { type: "string" },
              line: { type: "integer" },
              end_line: { type: "integer" },
              signature: { type: "string" },
              members: { type: "array" },
            },
            required: ["name", "kind", "line"],
          },
        },
      },
      required: ["path", "symbols"],
    },
    {
      title: "imports",
      properties: {
        path: { type: "string" },
        imports: {
          type: "array",
          items: {
            type: "object",
            properties: {
              module: { type: "string" },
              names: { type: "array" },
              line: { type: "integer" },
              text: { type: "string" },
            },
            required: ["module", "line"],
          },
        },
      },
      required: ["path", "imports"],
    },
    {
      title: "definitions",
      properties: {
        name: { type: "string" },
        definitions: PLACES,
        total: { type: "integer" },
        truncated: { type: "boolean" },
      },
      required: ["definitions", "total"],
    },
    {
      title: "references",
      properties: {
        name: { type: "string" },
        references: PLACES,
        total: { type: "integer" },
        truncated: { type: "boolean" },
      },
      required: ["references", "total"],
    },
    { title: "tree", properties: { path: { type: "string" }, tree: { type: "array" } }, required: ["path", "tree"] },
    {
      title: "list_directory",
      properties: { path: { type: "string" }, entries: { type: "array" } },
      required: ["path", "entries"],
    },
  ],
}

import type { JsonSchema } from "@toolwright/toolbox"

/** `output` schema of every tool that changes a text file. */
export const CHANGE_OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    replacements: { type: "integer", description: "Places that changed" },
    edits: {
      type: "array",
      items: { type: "object" },
      description: "Per edit: line, replacements, how it was matched",
    },
    diff: { type: "string", description: "Unified diff" },
    dry_run: { type: "boolean" },
    hash: { type: "string", description: "Of the content after the change; pass it as expected_hash to the next one" },
    size_bytes: { type: "integer" },
    line_count: { type: "integer" },
  },
  required: ["path", "replacements", "diff", "dry_run", "hash", "size_bytes", "line_count"],
}

/** The argument that makes a change conditional on what was read. */
export const EXPECTED_HASH: JsonSchema = {
  type: "string",
  pattern: "^[0-9a-f]{8,64}$",
  description: "Hash from an earlier read; the change is refused when the file is no longer the same",
}

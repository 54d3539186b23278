import type { JsonSchema } from "@toolwright/toolbox"
import { grounded, HERE } from "../ground/grounded.ts"

/** Schemas that several filesystem tools share. */
export const PATH: JsonSchema = {
  type: "string",
  description: "Path: absolute, or relative to the first allowed directory",
}

/** The path of something that is there, which was named. */
export const NAMED_PATH: JsonSchema = grounded(PATH, "path")

/** The path of something that is there; the current folder may go unnamed. */
export const PATH_OR_HERE: JsonSchema = grounded(PATH, HERE)

export const TEXT_FILE: JsonSchema = {
  type: "object",
  properties: {
    path: { type: "string" },
    content: { type: "string" },
    line_count: { type: "integer", description: "Lines in content" },
    size_bytes: { type: "integer", description: "Of the whole file" },
    modified_time: { type: "number", description: "Seconds since 1970" },
    is_truncated: { type: "boolean", description: "Whether content is only a part of the file" },
    encoding: { type: "string", enum: ["utf-8", "utf-16le", "utf-16be", "iso-8859-1"] },
    hash: { type: "string", description: "Of the whole file; pass it as expected_hash to a change" },
  },
  required: ["path", "content", "line_count", "size_bytes", "modified_time", "is_truncated", "encoding"],
}

export const ENTRY_TYPE: JsonSchema = { type: "string", enum: ["file", "directory", "symlink", "other"] }

export const EXCLUDE_PATTERNS: JsonSchema = {
  type: "array",
  items: { type: "string", minLength: 1 },
  description: "Globs of files and directories to leave out, e.g. node_modules or **/*.log",
}

/** Spellings of argument names that models use. */
export const PATH_ALIASES = {
  file_path: "path",
  filepath: "path",
  filename: "path",
  file: "path",
  directory: "path",
  dir: "path",
} as const

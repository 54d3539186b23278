/**
 * How the built-in tools' arguments must come from what was said, where calls are held by a grammar
 * (`docs/grounded-arguments.md`). What a call makes anew is not annotated: its name may be the model's own idea.
 */
import type { Grounded, JsonSchema } from "@toolwright/toolbox"

/** What a listing or a search begins at may go unsaid. */
export const HERE = { kind: "path", also: ["."] } as const satisfies Grounded

const EXTENSIONS = [
  "c",
  "cpp",
  "cs",
  "css",
  "csv",
  "env",
  "go",
  "h",
  "html",
  "java",
  "jpg",
  "js",
  "json",
  "jsonl",
  "jsx",
  "kt",
  "lock",
  "log",
  "md",
  "mjs",
  "pdf",
  "php",
  "png",
  "py",
  "rb",
  "rs",
  "scss",
  "sh",
  "sql",
  "svg",
  "swift",
  "toml",
  "ts",
  "tsx",
  "txt",
  "vue",
  "xml",
  "yaml",
  "yml",
  "zip",
]

/** Parts of names, and the patterns of file types, which are asked for by name. */
export const FILE_PATTERN: Grounded = {
  kind: "span",
  also: ["*", ...EXTENSIONS.map((extension) => `*.${extension}`)],
}

/** The schema with the annotation. */
export const grounded = (schema: JsonSchema, by: Grounded): JsonSchema => ({ ...schema, grounded: by })

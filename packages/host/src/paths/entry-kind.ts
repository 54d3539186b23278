import type { Dirent } from "node:fs"

/** What an entry of a directory is; links are not followed. */
export type EntryKind = "file" | "directory" | "symlink" | "other"

export function kindOf(entry: Dirent): EntryKind {
  if (entry.isFile()) return "file"
  if (entry.isDirectory()) return "directory"
  return entry.isSymbolicLink() ? "symlink" : "other"
}

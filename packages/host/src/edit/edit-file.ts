import type { ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "../paths/workspace.ts"
import { applyEdits, type Edit } from "./apply.ts"
import { changeFile, type ChangeOptions } from "./change-file.ts"

/** Replaces texts in a file, all or none; see `applyEdits` and `changeFile`. */
export function editFile(
  workspace: Workspace,
  path: string,
  edits: readonly Edit[],
  options: ChangeOptions = {},
): Promise<ToolResult> {
  return changeFile(workspace, path, (text) => applyEdits(text, edits, path), options)
}

import type { ToolDefinition } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { createAppendFileTool } from "./append-file.ts"
import { createCreateDirectoryTool } from "./create-directory.ts"
import { createDeleteDirectoryTool } from "./delete-directory.ts"
import { createDeleteFileTool } from "./delete-file.ts"
import { createEditFileTool } from "./edit-file.ts"
import { createGetDirectoryTreeTool } from "./get-directory-tree.ts"
import { createGetFileInfoTool } from "./get-file-info.ts"
import { createInsertLinesTool } from "./insert-lines.ts"
import { createListAllowedDirectoriesTool } from "./list-allowed-directories.ts"
import { createListDirectoryTool } from "./list-directory.ts"
import { createListDirectoryWithSizesTool } from "./list-directory-with-sizes.ts"
import { createMoveFileTool } from "./move-file.ts"
import { createReadMediaFileTool } from "./read-media-file.ts"
import { createReadMultipleFilesTool } from "./read-multiple-files.ts"
import { createReadTextFileTool } from "./read-text-file.ts"
import { createSearchFilesTool } from "./search-files.ts"
import { createWriteFileTool } from "./write-file.ts"

/** The filesystem tools, bound to a workspace. */
export function createFilesystemTools(workspace: Workspace): ToolDefinition[] {
  return [
    createReadTextFileTool,
    createReadMediaFileTool,
    createReadMultipleFilesTool,
    createWriteFileTool,
    createAppendFileTool,
    createInsertLinesTool,
    createEditFileTool,
    createCreateDirectoryTool,
    createListDirectoryTool,
    createListDirectoryWithSizesTool,
    createSearchFilesTool,
    createGetFileInfoTool,
    createListAllowedDirectoriesTool,
    createDeleteFileTool,
    createDeleteDirectoryTool,
    createMoveFileTool,
    createGetDirectoryTreeTool,
  ].map((create) => create(workspace))
}

import type { ToolDefinition } from "@toolwright/toolbox"
import { createCodeEditTool } from "./code-edit/code-edit.ts"
import { echo } from "./echo/echo.ts"
import { createFileTool } from "./file/file.ts"
import { createWorkspace, type Workspace, type WorkspaceConfig } from "./paths/workspace.ts"
import { createProcessTools } from "./process-tools.ts"
import type { ProcessToolsConfig } from "./process/host.ts"
import { createSearchTool } from "./search/search.ts"

/** What the built-in tools are made from: the directories they may touch. Each group of tools adds its own optional part. */
export interface BuiltinToolsConfig extends WorkspaceConfig {
  /** A workspace made before; the other path settings are then not used. */
  workspace?: Workspace
  /** Commands: the sandbox, the shell's allow list, tests, git, validation. */
  processes?: ProcessToolsConfig
}

/**
 * Makes all built-in tools, bound to one workspace. An explicit list: importing this registers nothing and loads no heavy library.
 *
 * @param config at least `roots`; roots are read-only unless they say `read-write`
 * @throws ToolwrightError `INVALID_ROOT`
 * @example
 * const tools = createBuiltinTools({ roots: [{ path: process.cwd(), access: "read-write" }] })
 */
export function createBuiltinTools(config: BuiltinToolsConfig): ToolDefinition[] {
  const workspace = config.workspace ?? createWorkspace(config)
  return [
    echo,
    createFileTool(workspace),
    createCodeEditTool(workspace),
    createSearchTool(workspace),
    ...createProcessTools(workspace, config.processes),
  ]
}

import type { ToolDefinition } from "@toolwright/toolbox"
import { createBashTool } from "./bash/bash.ts"
import { createGitOperationsTool } from "./git/git-operations.ts"
import { createGitTool } from "./git/git.ts"
import { createLocalChangesTool } from "./git/local-changes.ts"
import { createNavigateTool } from "./navigate/navigate.ts"
import type { Workspace } from "./paths/workspace.ts"
import { createProcessHost, type ProcessToolsConfig } from "./process/host.ts"
import { createTestTool } from "./test/test.ts"
import { createValidationTool } from "./validation/validation.ts"
import { createWorkspaceTool } from "./workspace/workspace.ts"

/** The tools around code: the syntax of files, shell, tests, git, artifacts, validation. */
export function createProcessTools(workspace: Workspace, config: ProcessToolsConfig = {}): ToolDefinition[] {
  const host = createProcessHost(workspace, config)
  return [
    createNavigateTool(workspace),
    createBashTool(host),
    createTestTool(host),
    createGitTool(host),
    createLocalChangesTool(host),
    createWorkspaceTool(workspace, config.templates),
    createValidationTool(host),
    createGitOperationsTool(host),
  ]
}

import type { ToolDefinition } from "@toolwright/toolbox"
import { createBashTool } from "./bash/bash.ts"
import { createGitOperationsTool } from "./git/git-operations.ts"
import { createGitTool } from "./git/git.ts"
import { createLocalChangesTool } from "./git/local-changes.ts"
import { createNavigateTool } from "./navigate/navigate.ts"
import type { Workspace } from "@toolwright/host/paths"
import { createProcessHost, type ProcessToolsConfig } from "@toolwright/host/process"
import { createTestTool } from "./run-tests/test.ts"
import { createValidationTool } from "./validation/validation.ts"
import { createWorkWatch } from "./ground/work/watch.ts"
import type { FileTemplates } from "./workspace/templates.ts"
import { createWorkspaceTool } from "./workspace/workspace.ts"

/** Settings of the coding tools: those of processes, and how files made from artifacts are laid out. */
export interface CodingToolsConfig extends ProcessToolsConfig {
  /** Jinja templates for files made from artifacts, by language; see `DEFAULT_TEMPLATES`. */
  readonly templates?: FileTemplates
}

/** The tools around code: the syntax of files, shell, tests, git, artifacts, validation. */
export function createProcessTools(workspace: Workspace, config: CodingToolsConfig = {}): ToolDefinition[] {
  const host = createProcessHost(workspace, config)
  const work = createWorkWatch(host)
  return [
    createNavigateTool(workspace),
    createBashTool(host),
    createTestTool(host),
    createGitTool(host),
    createLocalChangesTool(host),
    createWorkspaceTool(workspace, config.templates),
    createValidationTool(host),
    createGitOperationsTool(host),
  ].map((tool) => ({ ...tool, work }))
}

import type { ToolKit } from "@toolwright/host"
import { createCodeEditTool } from "./code-edit/code-edit.ts"
import { echo } from "./echo/echo.ts"
import { createFileTool } from "./file/file.ts"
import { createFilesystemTools } from "./filesystem/index.ts"
import { createLogitTool, type LogitToolConfig } from "./logit/logit.ts"
import { createProcessTools, type CodingToolsConfig } from "./process-tools.ts"
import { createSearchTool } from "./search/search.ts"

/** Settings of the coding tools. */
export interface CodingKitConfig {
  /** Commands: the sandbox, the shell's allow list, tests, git, validation. */
  processes?: CodingToolsConfig
  /** The model of the `logit` tool; without one it only lists its presets. */
  logit?: LogitToolConfig
}

/** The tools around code: files, search, editing, shell, tests, git, validation, and a model's own odds. */
export function codingKit({ processes, logit }: CodingKitConfig = {}): ToolKit {
  return {
    name: "coding",
    tools: ({ workspace }) => [
      echo,
      ...createFilesystemTools(workspace),
      createFileTool(workspace),
      createCodeEditTool(workspace),
      createSearchTool(workspace),
      ...createProcessTools(workspace, processes),
      createLogitTool(logit),
    ],
  }
}

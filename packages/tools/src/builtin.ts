import type { ToolDefinition } from "@toolwright/toolbox"
import { createArtifactStore, createBlogTools, rememberResearch, type BlogToolsConfig } from "./blog/index.ts"
import { createCodeEditTool } from "./code-edit/code-edit.ts"
import type { DatabaseToolsConfig } from "./database/config.ts"
import { createDatabaseTools } from "./database/index.ts"
import { echo } from "./echo/echo.ts"
import { createFileTool } from "./file/file.ts"
import { createFilesystemTools } from "./filesystem/index.ts"
import { createLogitTool, type LogitToolConfig } from "./logit/logit.ts"
import { type NetworkPolicy, createNetworkHost } from "@toolwright/host/net"
import { createWorkspace, type Workspace, type WorkspaceConfig } from "@toolwright/host/paths"
import { recordedTool } from "@toolwright/host/undo"
import { createProcessTools, type CodingToolsConfig } from "./process-tools.ts"
import { createSearchTool } from "./search/search.ts"
import { createWebTools, type WebToolsConfig } from "./web/index.ts"

/**
 * What the built-in tools are made from: the directories they may touch. Each group of tools adds its own optional
 * part.
 */
export interface BuiltinToolsConfig extends WorkspaceConfig {
  /** A workspace made before; the other path settings are then not used. */
  workspace?: Workspace
  /** Commands: the sandbox, the shell's allow list, tests, git, validation. */
  processes?: CodingToolsConfig
  /** What tools may reach over the network. */
  network?: NetworkPolicy
  /** Where keys and tokens are looked up; `process.env` unless given. */
  env?: Readonly<Record<string, string | undefined>>
  /** Pull requests, web search, pages. */
  web?: WebToolsConfig
  /** Feeds, links, calendar, the phases of writing, publishing. */
  blog?: BlogToolsConfig
  /** Databases that may be migrated. */
  databases?: DatabaseToolsConfig
  /** The model of the `logit` tool; without one it only lists its presets. */
  logit?: LogitToolConfig
}

/**
 * Makes all built-in tools, bound to one workspace. An explicit list: importing this registers nothing and loads no
 * heavy library.
 *
 * @param config at least `roots`; roots are read-only unless they say `read-write`
 * @throws ToolwrightError `INVALID_ROOT`
 * @example
 * const tools = createBuiltinTools({ roots: [{ path: process.cwd(), access: "read-write" }] })
 */
export function createBuiltinTools(config: BuiltinToolsConfig): ToolDefinition[] {
  const workspace = config.workspace ?? createWorkspace(config)
  const network = createNetworkHost(config.network, config.env)
  const artifacts = config.blog?.artifacts ?? createArtifactStore()
  const tools = [
    echo,
    ...createFilesystemTools(workspace),
    createFileTool(workspace),
    createCodeEditTool(workspace),
    createSearchTool(workspace),
    ...createProcessTools(workspace, config.processes),
    ...createWebTools(network, config.web).map((tool) => rememberResearch(tool, artifacts)),
    ...createBlogTools(network, workspace, { ...config.blog, artifacts }),
    ...createDatabaseTools(workspace, {
      ...(config.env === undefined ? {} : { env: config.env }),
      ...config.databases,
    }),
    createLogitTool(config.logit),
  ]
  return tools.map((tool) => recordedTool(tool, workspace))
}

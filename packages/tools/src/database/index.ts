import type { ToolDefinition } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import type { DatabaseToolsConfig } from "./config.ts"
import { createDbMigrateTool } from "./db-migrate.ts"
import { createDbStatusTool } from "./db-status.ts"

/** The tools that migrate databases and tell where they stand. */
export function createDatabaseTools(workspace: Workspace, config: DatabaseToolsConfig = {}): ToolDefinition[] {
  return [createDbMigrateTool(workspace, config), createDbStatusTool(workspace, config)]
}

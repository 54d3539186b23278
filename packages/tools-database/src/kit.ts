import type { ToolKit } from "@toolwright/host"
import type { DatabaseToolsConfig } from "./config.ts"
import { createDbMigrateTool } from "./db-migrate.ts"
import { createDbStatusTool } from "./db-status.ts"

/** The tools that migrate databases and tell where they stand. */
export function databaseKit(config: DatabaseToolsConfig = {}): ToolKit {
  return {
    name: "database",
    tools({ workspace, env }) {
      const own = { ...(env === undefined ? {} : { env }), ...config }
      return [createDbMigrateTool(workspace, own), createDbStatusTool(workspace, own)]
    },
  }
}

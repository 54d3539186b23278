import { defineTool, type ToolDefinition, type ToolHandler } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { configuredDatabases, type DatabaseToolsConfig } from "./config.ts"
import { databaseArgument, databaseCapabilities } from "./db-migrate.ts"

/** The tool that tells which migrations a database has. It never writes. */
export function createDbStatusTool(workspace: Workspace, config: DatabaseToolsConfig = {}): ToolDefinition {
  let handle: Promise<ToolHandler> | undefined
  const names = Object.keys(configuredDatabases(config))
  return defineTool({
    name: "db_status",
    sets: ["db-migrations"],
    title: "Database status",
    description:
      "Tells which migrations are applied to a database, which are pending, and which files changed or went " +
      "missing since. Changes nothing.",
    category: "build",
    optionality: "optional",
    tags: ["database"],
    usageHint:
      "Use when: you want to know a database's schema version, before and after db_migrate. Don't use when: you " +
      "want to change it (use db_migrate).",
    parameters: {
      type: "object",
      properties: { database: databaseArgument(config) },
      ...(names.length > 1 ? { required: ["database"] } : {}),
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        database: { type: "string" },
        dialect: { type: "string", enum: ["sqlite", "postgresql"] },
        target: { type: "string", description: "The database's address, without password" },
        version: { type: "integer", description: "Highest applied version; 0 for none" },
        pending: { type: "integer" },
        clean: { type: "boolean", description: "Whether nothing is pending, changed or missing" },
        migrations: {
          type: "array",
          items: {
            type: "object",
            properties: {
              version: { type: "integer" },
              name: { type: "string" },
              state: { type: "string", enum: ["applied", "pending", "drifted", "missing"] },
              applied_at: { type: "string" },
              reversible: { type: "boolean" },
            },
            required: ["version", "name", "state", "reversible"],
          },
        },
      },
      required: ["database", "dialect", "target", "version", "pending", "clean", "migrations"],
    },
    aliases: { arguments: { db: "database" } },
    examples: [{ description: "Where the database stands", input: names.length > 1 ? { database: names[0] } : {} }],
    effects: { readOnly: true, idempotent: true, network: true },
    capabilities: databaseCapabilities(config),
    timeoutMs: 60_000,
    maxOutputChars: 20_000,
    execute: async (args, context) => {
      handle ??= import("./handlers.ts").then((module) => module.createStatusHandler(workspace, config))
      return (await handle)(args, context)
    },
  })
}

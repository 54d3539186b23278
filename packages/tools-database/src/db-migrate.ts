import type { JsonSchema, ToolDefinition, ToolHandler } from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { Workspace } from "@toolwright/host/paths"
import { configuredDatabases, type DatabaseToolsConfig } from "./config.ts"

/** The capabilities that tools for these databases need: the environment variables of their addresses. */
export function databaseCapabilities(config: DatabaseToolsConfig): string[] {
  const targets = Object.values(configuredDatabases(config))
  const [only] = targets
  return targets.length === 1 && only?.dsn === undefined && only?.dsnEnv !== undefined ? [`env:${only.dsnEnv}`] : []
}

/** The argument that chooses a database. */
export function databaseArgument(config: DatabaseToolsConfig): JsonSchema {
  const names = Object.keys(configuredDatabases(config))
  return {
    type: "string",
    enum: names,
    description: names.length === 1 ? `Which database; ${names[0]} is the only one` : "Which database",
  }
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    database: { type: "string" },
    dialect: { type: "string", enum: ["sqlite", "postgresql"] },
    dry_run: { type: "boolean" },
    version: { type: "integer", description: "Highest applied version afterwards; 0 for none" },
    steps: {
      type: "array",
      items: {
        type: "object",
        properties: {
          version: { type: "integer" },
          name: { type: "string" },
          direction: { type: "string", enum: ["up", "down"] },
          status: {
            type: "string",
            enum: ["planned", "done", "skipped"],
            description: "skipped: another migrator had done it",
          },
          duration_ms: { type: "integer" },
        },
        required: ["version", "name", "direction", "status"],
      },
    },
  },
  required: ["database", "dialect", "dry_run", "version", "steps"],
}

/** The tool that brings a database's schema to another version. */
export function createDbMigrateTool(workspace: Workspace, config: DatabaseToolsConfig = {}): ToolDefinition {
  let handle: Promise<ToolHandler> | undefined
  const run: ToolHandler = async (args, context) => {
    handle ??= import("./handlers.ts").then((module) => module.createMigrateHandler(workspace, config))
    return (await handle)(args, context)
  }
  return defineMultiActionTool({
    name: "db_migrate",
    sets: ["db-migrations"],
    asks: true,
    title: "Migrate a database",
    description:
      "Applies SQL migrations from the workspace to an SQLite or PostgreSQL database, or takes them back. Files " +
      "are named 0001_name.up.sql and 0001_name.down.sql. Each migration is one transaction: it happens whole " +
      "or not at all.",
    category: "build",
    optionality: "optional",
    tags: ["database"],
    usageHint:
      "Use when: the database's schema must change, after writing a migration or checking out code that brings " +
      "one. Don't use when: you only want to know where the database stands (use db_status). Never edit a " +
      "migration that is applied: write a new one.",
    outputSchema: OUTPUT,
    aliases: {
      arguments: { db: "database", target: "version", count: "steps", dryRun: "dry_run" },
    },
    effects: { readOnly: false, destructive: true, idempotent: false, network: true },
    capabilities: databaseCapabilities(config),
    timeoutMs: 600_000,
    maxOutputChars: 20_000,
    actions: actionsOf(config, run),
  })
}

function actionsOf(config: DatabaseToolsConfig, run: ToolHandler): Record<string, ActionSpecification> {
  const names = Object.keys(configuredDatabases(config))
  const common: Record<string, JsonSchema> = {
    database: databaseArgument(config),
    dry_run: { type: "boolean", default: false, description: "Only say which steps would be taken" },
  }
  const named = names.length > 1 ? ["database"] : []
  return {
    up: {
      description: "Applies pending migrations in order: all, or the first few",
      properties: { ...common, steps: { type: "integer", minimum: 1, description: "How many; all unless given" } },
      required: named,
      execute: run,
      examples: [
        { description: "What would be applied", input: { dry_run: true } },
        { description: "Apply everything that is pending", input: {} },
      ],
    },
    down: {
      description: "Takes the latest migrations back",
      properties: { ...common, steps: { type: "integer", minimum: 1, default: 1, description: "How many" } },
      required: named,
      execute: run,
      examples: [{ description: "Take the latest one back", input: { steps: 1 } }],
    },
    to: {
      description: "Goes up or down until exactly this version is the latest one applied",
      properties: {
        ...common,
        version: { type: "integer", minimum: 0, description: "The version; 0 takes everything back" },
      },
      required: [...named, "version"],
      execute: run,
      examples: [{ description: "Go to version 1", input: { version: 1 } }],
    },
  }
}

import { resolve } from "node:path"
import { failure, success, ToolwrightError, type ToolHandler, type ToolResult } from "@toolwright/toolbox"
import type { Workspace } from "@toolwright/host/paths"
import { chooseDatabase, type ChosenDatabase, type DatabaseToolsConfig } from "./config.ts"
import type { DriverLimits, MigrationDriver } from "./driver.ts"
import { readMigrations } from "./migrations.ts"
import { currentVersion, plan, planned, runSteps, statusOf, StepFailed, wantedOf, type StepReport } from "./migrator.ts"

const SHOWN = 100

/** The handler of `db_migrate`. */
export function createMigrateHandler(workspace: Workspace, config: DatabaseToolsConfig): ToolHandler {
  return async (args, context) => {
    let database: ChosenDatabase | undefined
    try {
      database = chooseDatabase(config, args.database)
      const { name, dialect } = database
      const files = await readMigrations(workspace, database.migrations)
      await using driver = await openDriver(workspace, database, limitsOf(config, context.signal))
      const applied = await driver.applied()
      const steps = plan(files, applied, wantedOf(args), dialect)
      const isDry = args.dry_run === true
      const reports = isDry
        ? planned(steps)
        : await runSteps(driver, steps, (report) => context.progress({ message: stepLine(report), progress: 1 }))
      const version = currentVersion(isDry || steps.length === 0 ? applied : await driver.applied())
      const head =
        steps.length === 0
          ? `Nothing to do: ${name} is at version ${version}.`
          : isDry
            ? `Would take these steps on ${name}, which is at version ${version}:`
            : `${name} is at version ${version} now.`
      return success({
        output: [head, ...reports.slice(0, SHOWN).map(stepLine), ...more(reports.length)].join("\n"),
        data: { database: name, dialect, dry_run: isDry, version, steps: reports },
        modifiedFiles: !isDry && dialect === "sqlite" && steps.length > 0 ? [fileOf(workspace, database)] : [],
      })
    } catch (thrown) {
      return databaseFailure(thrown, database)
    }
  }
}

/** The handler of `db_status`. */
export function createStatusHandler(workspace: Workspace, config: DatabaseToolsConfig): ToolHandler {
  return async (args, { signal }) => {
    let database: ChosenDatabase | undefined
    try {
      database = chooseDatabase(config, args.database)
      const { name, dialect, shown } = database
      const files = await readMigrations(workspace, database.migrations)
      await using driver = await openDriver(workspace, database, limitsOf(config, signal))
      const applied = await driver.applied()
      const migrations = statusOf(files, applied)
      const pending = migrations.filter(({ state }) => state === "pending").length
      const isClean = migrations.every(({ state }) => state === "applied")
      const version = currentVersion(applied)
      const lines = migrations
        .slice(-SHOWN)
        .map(
          ({ version: number, name: title, state, applied_at: at }) =>
            `- ${number}_${title}: ${state}${at === undefined ? "" : ` (${at})`}`,
        )
      return success({
        output: [
          `${name} (${shown}) is at version ${version}; ${isClean ? "everything is applied" : `${pending} pending`}.`,
          ...lines,
          ...more(migrations.length),
        ].join("\n"),
        data: { database: name, dialect, target: shown, version, pending, clean: isClean, migrations },
      })
    } catch (thrown) {
      return databaseFailure(thrown, database)
    }
  }
}

async function openDriver(
  workspace: Workspace,
  database: ChosenDatabase,
  limits: DriverLimits,
): Promise<MigrationDriver> {
  if (database.dialect === "postgresql")
    return (await import("./postgres-driver.ts")).openPostgres(database.dsn, limits)
  return (await import("./sqlite-driver.ts")).openSqlite(fileOf(workspace, database), limits)
}

/** The configured file of an SQLite database; relative ones are in the workspace's first root. */
function fileOf(workspace: Workspace, { file }: ChosenDatabase): string {
  return resolve(workspace.roots[0]?.real ?? "/", file)
}

function limitsOf(config: DatabaseToolsConfig, signal: AbortSignal): DriverLimits {
  return { lockWaitMs: config.lockWaitMs ?? 10_000, migrationMs: config.migrationMs ?? 300_000, signal }
}

function stepLine({ version, name, direction, status, duration_ms: took }: StepReport): string {
  return `- ${direction} ${version}_${name}: ${status}${took === undefined ? "" : ` (${took} ms)`}`
}

function more(count: number): string[] {
  return count > SHOWN ? [`… ${count} in all; the result's data has every one.`] : []
}

/** A failed result without secrets; steps that were taken before the failing one stay taken and are reported. */
function databaseFailure(thrown: unknown, database: ChosenDatabase | undefined): ToolResult {
  const clean = database?.redact ?? ((text: string) => text)
  if (!ToolwrightError.isInstance(thrown))
    throw new Error(clean(thrown instanceof Error ? thrown.message : String(thrown)))
  const done = thrown instanceof StepFailed ? thrown.done : undefined
  const before =
    done === undefined || done.length === 0
      ? ""
      : ` Before that, these were done and stay: ${done.map(({ version }) => version).join(", ")}.`
  const rolledBack = thrown.code === "MIGRATION_FAILED" && done !== undefined ? " It was rolled back." : ""
  const hint =
    thrown.hint ??
    (thrown.code === "MIGRATION_FAILED"
      ? "Correct the SQL and call db_migrate again; db_status tells where the database stands."
      : undefined)
  return failure({
    code: thrown.code,
    message: clean(`${thrown.message}.${rolledBack}${before}`.replace(/\.\./g, ".")),
    ...(hint === undefined ? {} : { hint: clean(hint) }),
    retryable: thrown.code === "MIGRATION_LOCKED" || thrown.code === "CONNECTION_FAILED",
    ...(done === undefined ? {} : { details: { done } }),
  })
}

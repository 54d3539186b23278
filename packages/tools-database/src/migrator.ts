import { ToolwrightError, type JsonObject } from "@toolwright/toolbox"
import type { AppliedMigration, MigrationDriver, MigrationStep } from "./driver.ts"
import type { Migration } from "./migrations.ts"
import { checkMigration } from "./sql-scan.ts"

/**
 * What a migration is in, seen from folder and database: `drifted` when its file changed since, `missing` when it is
 * gone.
 */
export type MigrationState = "applied" | "pending" | "drifted" | "missing"

export interface MigrationStatus {
  version: number
  name: string
  state: MigrationState
  applied_at?: string
  reversible: boolean
}

/** Which steps are wanted. `version` 0 means none applied. */
export type Wanted =
  | { action: "up"; steps?: number }
  | { action: "down"; steps: number }
  | { action: "to"; version: number }

export interface StepReport {
  version: number
  name: string
  direction: "up" | "down"
  status: "planned" | "done" | "skipped"
  duration_ms?: number
}

/** Folder and database side by side, in order of version. */
export function statusOf(files: readonly Migration[], applied: readonly AppliedMigration[]): MigrationStatus[] {
  const records = new Map(applied.map((record) => [record.version, record]))
  const rows: MigrationStatus[] = files.map(({ version, name, checksum, down }) => {
    const record = records.get(version)
    records.delete(version)
    const state = record === undefined ? "pending" : record.checksum === checksum ? "applied" : "drifted"
    return {
      version,
      name,
      state,
      ...(record === undefined ? {} : { applied_at: record.appliedAt }),
      reversible: down !== undefined,
    }
  })
  for (const { version, name, appliedAt } of records.values()) {
    rows.push({ version, name, state: "missing", applied_at: appliedAt, reversible: false })
  }
  return rows.sort((one, other) => one.version - other.version)
}

/** The highest version that is applied, 0 for none. */
export function currentVersion(applied: readonly AppliedMigration[]): number {
  return applied.reduce((highest, { version }) => Math.max(highest, version), 0)
}

/**
 * The steps that lead to what is wanted.
 *
 * @throws ToolwrightError `CHECKSUM_DRIFT`, `MIGRATION_MISSING`, `OUT_OF_ORDER`, `IRREVERSIBLE`, `UNKNOWN_VERSION`,
 *   `INVALID_MIGRATION`; nothing has been done then
 */
export function plan(
  files: readonly Migration[],
  applied: readonly AppliedMigration[],
  wanted: Wanted,
  dialect: "sqlite" | "postgresql",
): MigrationStep[] {
  const rows = statusOf(files, applied)
  const current = currentVersion(applied)
  const target = wanted.action === "to" ? wanted.version : undefined
  if (target !== undefined && target !== 0 && !files.some(({ version }) => version === target)) {
    throw new ToolwrightError("UNKNOWN_VERSION", `There is no migration with version ${target}.`, {
      hint: `Versions are: ${
        files
          .map(({ version }) => version)
          .slice(-20)
          .join(", ") || "none"
      }; 0 takes everything back.`,
    })
  }
  const isDown = wanted.action === "down" || (target !== undefined && target < current)
  if (isDown) {
    const down = rows
      .filter(({ state, version }) => state !== "pending" && (target === undefined || version > target))
      .reverse()
    return (wanted.action === "down" ? down.slice(0, wanted.steps) : down).map((row) => downStep(files, row, dialect))
  }
  refuseDrift(rows)
  const up = rows.filter(({ state, version }) => state === "pending" && (target === undefined || version <= target))
  const late = up.find(({ version }) => version < current)
  if (late !== undefined) {
    throw new ToolwrightError(
      "OUT_OF_ORDER",
      `Migration ${late.version}_${late.name} is pending, though ${current} is applied already.`,
      {
        hint: `Give it a number above ${current}, so that every database takes the same steps in the same order.`,
      },
    )
  }
  const chosen = wanted.action === "up" && wanted.steps !== undefined ? up.slice(0, wanted.steps) : up
  return chosen.map(({ version }) => {
    const { name, file, up: sql, checksum, isTransactional } = files.find((one) => one.version === version) as Migration
    checkMigration(file, sql, dialect, isTransactional.up)
    return { direction: "up", version, name, checksum, sql, isTransactional: isTransactional.up }
  })
}

function downStep(files: readonly Migration[], row: MigrationStatus, dialect: "sqlite" | "postgresql"): MigrationStep {
  const migration = files.find(({ version }) => version === row.version)
  if (migration === undefined) {
    throw new ToolwrightError(
      "MIGRATION_MISSING",
      `Migration ${row.version}_${row.name} is applied, but its files are gone, so it cannot be taken back.`,
      {
        hint: "Bring its files back.",
      },
    )
  }
  if (migration.down === undefined) {
    throw new ToolwrightError(
      "IRREVERSIBLE",
      `Migration ${row.version}_${row.name} cannot be taken back: there is no ${row.version}_${row.name}.down.sql.`,
      {
        hint: "Write that file, or undo the change with a new migration.",
      },
    )
  }
  const { name, file, down: sql, checksum, isTransactional } = migration
  checkMigration(file.replace(/\.up\.sql$/, ".down.sql"), sql, dialect, isTransactional.down)
  return { direction: "down", version: row.version, name, checksum, sql, isTransactional: isTransactional.down }
}

function refuseDrift(rows: readonly MigrationStatus[]): void {
  const drifted = rows.find(({ state }) => state === "drifted")
  if (drifted !== undefined) {
    throw new ToolwrightError(
      "CHECKSUM_DRIFT",
      `Migration ${drifted.version}_${drifted.name} was changed after it had been applied.`,
      {
        hint: "Put the file back as it was, and make the change in a new migration.",
      },
    )
  }
  const missing = rows.find(({ state }) => state === "missing")
  if (missing !== undefined) {
    throw new ToolwrightError(
      "MIGRATION_MISSING",
      `Migration ${missing.version}_${missing.name} is applied, but its file is gone.`,
      {
        hint: "Bring the file back; other databases still need it.",
      },
    )
  }
}

/** A step that failed, with the ones before it. */
export class StepFailed extends ToolwrightError {
  readonly done: readonly StepReport[]
  constructor(cause: ToolwrightError, step: MigrationStep, done: readonly StepReport[]) {
    const name = `${step.version}_${step.name}.${step.direction}.sql`
    super(cause.code, `${name}: ${cause.message}`, { cause, ...(cause.hint === undefined ? {} : { hint: cause.hint }) })
    this.done = done
  }
}

/** Takes steps one after the other. @throws StepFailed */
export async function runSteps(
  driver: MigrationDriver,
  steps: readonly MigrationStep[],
  onStep: (report: StepReport) => void,
): Promise<StepReport[]> {
  const reports: StepReport[] = []
  for (const step of steps) {
    const started = performance.now()
    try {
      const status = await driver.run(step)
      const report = {
        version: step.version,
        name: step.name,
        direction: step.direction,
        status,
        duration_ms: Math.round(performance.now() - started),
      }
      reports.push(report)
      onStep(report)
    } catch (thrown) {
      if (ToolwrightError.isInstance(thrown)) throw new StepFailed(thrown, step, reports)
      throw thrown
    }
  }
  return reports
}

/** Steps as they would be reported, before they are taken. */
export function planned(steps: readonly MigrationStep[]): StepReport[] {
  return steps.map(({ version, name, direction }) => ({ version, name, direction, status: "planned" }))
}

/** A wanted state from a call's arguments, which have been validated. */
export function wantedOf(args: JsonObject): Wanted {
  if (args.action === "to") return { action: "to", version: Number(args.version) }
  if (args.action === "down") return { action: "down", steps: Number(args.steps ?? 1) }
  return { action: "up", ...(args.steps === undefined ? {} : { steps: Number(args.steps) }) }
}

import { listRuns, readRun, type RecordedRun, type RunHead } from "@toolwright/agents/record"
import type { RunFilter } from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import { dirname } from "node:path"
import { approvalAccess, type ApprovalAccess } from "./approvals.ts"
import { databaseOf, logAccess, type LogAccess } from "./assembly/log.ts"
import { placeOf } from "./assembly/place.ts"
import type { Configuration } from "./configuration/settings.ts"

export { eventOf } from "@toolwright/agents/record"
export { begunWith, type BegunWith } from "./begun-with.ts"

/** The runs that are on record. */
export interface RunRecords {
  /** The recorded runs, newest first. */
  runs(filter?: RunFilter): Promise<RunHead[]>
  /** Reads one: by its id, its beginning, or `latest`. @throws ToolwrightError `UNKNOWN_RUN` */
  readRun(runId: string): Promise<RecordedRun>
}

/** What a workspace has on record, without the tools and the model that made it: quick to load. */
export interface WorkspaceRecords extends RunRecords, AsyncDisposable {
  readonly configuration: Configuration
  /** Where it is kept; nothing is there before something is written. */
  readonly log: LogAccess
  /** What runs ask that wait for a person, and the answers. */
  readonly approvals: ApprovalAccess
  /** The folder of the workspace's own state; nothing is there before something is written. */
  readonly stateFolder: string
}

/** Finds out where runs under a configuration are recorded; nothing is opened before one is asked for. */
export function recordsUnder(
  configuration: Configuration,
  { cwd, env, log }: { cwd: string; env: Readonly<Record<string, string | undefined>>; log: (line: string) => void },
): WorkspaceRecords {
  const place = placeOf(configuration, { cwd, env, withBuiltins: false, log })
  const records = logAccess(databaseOf(configuration, cwd), place)
  return {
    configuration,
    log: records,
    approvals: approvalAccess(records),
    stateFolder: dirname(place.stateDatabase),
    ...runsIn(records),
    [Symbol.asyncDispose]: () => records.close(),
  }
}

/** Reads the runs of a log; nothing is made by looking. */
export function runsIn(records: LogAccess): RunRecords {
  return {
    async runs(filter) {
      const found = await records.look()
      return found === undefined ? [] : listRuns(found, filter)
    },
    async readRun(runId) {
      const found = await records.look()
      if (found === undefined) throw noRuns(runId, records.target)
      return readRun(found, runId)
    },
  }
}

function noRuns(runId: string, target: string): ToolwrightError {
  return new ToolwrightError("UNKNOWN_RUN", `There is no run '${runId}'.`, {
    hint: `No runs are recorded in ${target}.`,
  })
}

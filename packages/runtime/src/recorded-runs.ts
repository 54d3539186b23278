import { listRuns, readRun, type RecordedRun, type RunHead } from "@toolwright/agents"
import type { Backend } from "@toolwright/backends"
import type { RunFilter } from "@toolwright/store"
import { ToolwrightError } from "@toolwright/toolbox"
import type { LogAccess } from "./assembly/log.ts"
import type { Configuration } from "./configuration/settings.ts"
import type { modelFor } from "./assembly/model.ts"
import { checkModelOf } from "./pairing/choose.ts"

/** What a record is read with, and what may go on with it. */
interface Parts {
  records: LogAccess
  model: ReturnType<typeof modelFor>
  configuration: Configuration
}

/** The runs that are on record, and the backend for one of them. */
export function recordedRuns({ records, model, configuration }: Parts) {
  return {
    async backend({ of }: { of?: string } = {}): Promise<Backend> {
      if (of === undefined) return model.backend()
      const row = await (await records.open()).find(of)
      checkModelOf(row, configuration, model.pairing)
      return model.backend(row.model)
    },
    async runs(filter?: RunFilter): Promise<RunHead[]> {
      const found = await records.look()
      return found === undefined ? [] : listRuns(found, filter)
    },
    async readRun(runId: string): Promise<RecordedRun> {
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

import { listRuns, readRun } from "@toolwright/agents"
import { ToolwrightError } from "@toolwright/toolbox"
import type { LogAccess } from "./assembly/log.ts"
import type { Configuration } from "./configuration/settings.ts"
import type { modelFor } from "./assembly/model.ts"
import { checkModelOf } from "./pairing/choose.ts"
import type { Toolwright } from "./toolwright.ts"

/** What a record is read with, and what may go on with it. */
interface Parts {
  records: LogAccess
  model: ReturnType<typeof modelFor>
  configuration: Configuration
}

/** The runs that are on record, and the backend for one of them. */
export function recordedRuns({
  records,
  model,
  configuration,
}: Parts): Pick<Toolwright, "runs" | "readRun" | "backend"> {
  return {
    async backend({ of } = {}) {
      if (of === undefined) return model.backend()
      const row = await (await records.open()).find(of)
      checkModelOf(row, configuration, model.pairing)
      return model.backend(row.model)
    },
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

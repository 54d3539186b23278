import type { Backend } from "@toolwright/backends"
import type { LogAccess } from "./assembly/log.ts"
import type { modelFor } from "./assembly/model.ts"
import type { Configuration } from "./configuration/settings.ts"
import { checkModelOf } from "./pairing/choose.ts"
import { runsIn } from "./records.ts"

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
    ...runsIn(records),
  }
}

import type { ExecuteCall } from "@toolwright/agents/record"
import { executeCall } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { databaseOf, logAccess } from "./log.ts"
import { placeOf } from "./place.ts"

/** The record of calls that are made by hand, without anything else that a run needs. */
export interface Records {
  executeCall(surface: string): ExecuteCall
  close(): Promise<void>
}

/** Finds out where calls under a configuration are recorded; nothing is opened before one is made. */
export function recordsFor(
  configuration: Configuration,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Records {
  const place = placeOf(configuration, { cwd, env, withBuiltins: true, log: () => {} })
  const records = logAccess(databaseOf(configuration, cwd), place)
  const load = async (surface: string): Promise<ExecuteCall> => {
    const [{ recordedCalls }, { redactorFor }] = await Promise.all([
      import("@toolwright/agents/record"),
      import("../secrets/redactor.ts"),
    ])
    const redact = redactorFor({ ...configuration, secrets: {} }, env)
    return recordedCalls(() => records.open(), { surface, workspace: place.root }, { redact })
  }
  return {
    executeCall:
      (surface): typeof executeCall =>
      async (...call) =>
        (await load(surface))(...call),
    close: () => records.close(),
  }
}

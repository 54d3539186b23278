import type { KeptFlags } from "@toolwright/agents"
import type { LogEvent, RunLog, RunRow } from "@toolwright/store"

/** How the command that began a run was given its settings. */
export interface BegunWith {
  readonly flags: KeptFlags
  /** Whether it was begun here by a command: it came in no file, and shares its beginning with no other run. */
  readonly here: boolean
}

/** The flags with which a run was begun; of a branch none, since it may be another model's. */
export async function begunWith(log: RunLog, { id, surface, parent_run: parent }: RunRow): Promise<BegunWith> {
  if (parent !== null) return { flags: {}, here: false }
  const [first] = await log.events(id, { upTo: 1 })
  return { flags: flagsIn(first), here: surface === "run" }
}

function flagsIn(event: LogEvent | undefined): KeptFlags {
  if (event?.type !== "run-start" || event.body === undefined) return {}
  const { given } = JSON.parse(event.body) as { given?: { flags?: KeptFlags } }
  return given?.flags ?? {}
}

import type { RunPlace } from "@toolwright/agents"
import type { RunLog } from "@toolwright/store"
import { askingWith } from "./agents/asking.ts"
import type { Configuration } from "./configuration/settings.ts"
import { databaseFlag } from "./database-flag.ts"
import { goingOn } from "./going-on.ts"
import { runsWith, type RunOrigin, type RunParts, type Runs } from "./runs.ts"

/** What runs are begun with and gone on with. */
interface Parts extends Omit<RunParts, "asking" | "maxNestingDepth"> {
  readonly configuration: Configuration
  readonly redact: (text: string) => string
  /** Whether runs are recorded. */
  readonly record: boolean
  /** Where the records are. */
  readonly records: { readonly target: string }
  readonly env: Readonly<Record<string, string | undefined>>
  open(): Promise<RunLog>
}

/** Begins runs and goes on with them; a run may ask for others, and these are begun and gone on with alike. */
export function waysToRun(parts: Parts): Runs & ReturnType<typeof goingOn> {
  const { configuration, agents, record, open, records, cwd } = parts
  const asking = askingWith({
    agents,
    open: record ? open : undefined,
    run: (task, options) => runs.run(task, options),
    resume: (run, options) => going.resume(run, options),
  })
  const runs = runsWith({ ...parts, asking, maxNestingDepth: configuration.agent.maxNestingDepth })
  const going = goingOn({ ...parts, asking, there: databaseFlag(records.target, cwd) })
  return { ...runs, ...going }
}

/** Where a run belongs, for its record. */
export function placeIn(workspace: string, { surface = "library", task, nesting, askedBy }: RunOrigin): RunPlace {
  return {
    surface,
    workspace,
    ...(task === undefined ? {} : { task }),
    ...(nesting === undefined ? {} : { nesting }),
    ...(askedBy === undefined ? {} : { askedBy }),
  }
}

import type { RunRow } from "@toolwright/store"
import type { BranchOptions } from "./branch.ts"
import type { Configuration } from "./configuration/settings.ts"
import { checkModelOf } from "./pairing/choose.ts"
import type { Pairing } from "./pairing/pairing.ts"
import { resumeRun, type ResumeOptions, type ResumeParts } from "./resume.ts"

type GoingOnParts = Omit<ResumeParts, "checkModelOf" | "paired"> & {
  configuration: Configuration
  pairing: Pairing | undefined
  /** Where relative paths start. */
  cwd: string
  env: Readonly<Record<string, string | undefined>>
}

/** What goes on with recorded runs, where the model here may, and takes back what they changed. */
export function goingOn({ configuration, pairing, cwd, env, ...parts }: GoingOnParts) {
  const checked = (row: RunRow): void => checkModelOf(row, configuration, pairing)
  return {
    resume: (runId: string, options?: ResumeOptions) =>
      resumeRun({ ...parts, paired: pairing !== undefined, checkModelOf: checked }, runId, options),
    async branch(runId: string, options: BranchOptions) {
      const log = await parts.open()
      const row = await log.find(runId)
      checked(row)
      const id = await (await import("./branch.ts")).beginBranch(log, runId, options, parts)
      if (options.keepFiles === true || row.state !== "ended") return id
      const history = await (await import("./workspace/tool-workspace.ts")).changeHistory(configuration, cwd, env)
      if (history === undefined) return id
      const { surface = "library" } = options
      const record = { open: parts.open, surface, workspace: parts.place.root, redact: parts.redact }
      const seq = (await log.get(id))!.parent_seq!
      const taken = await (await import("./undo/since.ts")).takeBackSince(history, { log, run: row, seq }, record)
      options.onTakenBack?.(taken)
      return id
    },
    async undo(id?: string, { surface = "library", by }: { surface?: string; by?: string } = {}) {
      const { open, place, redact } = parts
      const record = { open, surface, workspace: place.root, redact, ...(by === undefined ? {} : { by }) }
      return (await import("./undo/take-back.ts")).takeBack(configuration, id, { cwd, env, ...record })
    },
  }
}

import type { ToolDefinition } from "@toolwright/toolbox"
import type { Ledger } from "./ledger.ts"

/** What must hold before a run counts as completed. All given conditions must. */
export interface CompletionCriteria {
  /**
   * The word by which the model asks to finish, such as `TASK_COMPLETE`. It is a request; the other criteria decide.
   * Without one, a reply without calls is that request.
   */
  signal?: string
  /** At least one tool must have succeeded: an agent that only talks has done nothing. */
  requireToolUse?: boolean
  /** After the last change, validation must have run and passed. */
  requireValidation?: boolean
  /** Something must have been changed: an agent that promises a change has not kept it by looking. */
  requireChange?: boolean
  /** What was changed must be recorded in the repository at the end, as its log says, whoever put it there. */
  requireCommit?: boolean
  /** Of these files, relative to the workspace, at least one must have been written, and stand on disk. */
  requireFiles?: readonly string[]
  /** Tools that must have succeeded. */
  requiredTools?: readonly string[]
  /** Every tool on offer whose optionality is `required` must have succeeded. */
  requireRequiredTools?: boolean
  /** Artifacts that must have been produced. */
  requiredArtifacts?: readonly string[]
  /** A check of the application's own; a text says what is missing. */
  check?(ledger: Ledger): Promise<string | undefined> | string | undefined
  /** What the run answers when it succeeds, in place of the model's own text. */
  successMessage?: string
}

/** Why a run is not complete. `report` is the output of the check that failed, to be shown to the model. */
export interface Unmet {
  reasons: string[]
  report?: string
}

/** The reason that stands for a run that changed nothing. */
export const NOTHING_CHANGED = "nothing has been changed yet"

/** Judges the record against the criteria; nothing means complete. */
export async function unmet(
  criteria: CompletionCriteria,
  ledger: Ledger,
  tools: readonly ToolDefinition[],
): Promise<Unmet | undefined> {
  const unchecked = criteria.requireValidation ? ledger.uncheckedReason() : undefined
  const own = await criteria.check?.(ledger)
  const reasons = [
    ...(criteria.requireToolUse && !ledger.anySuccess ? ["no tool has succeeded yet"] : []),
    ...(criteria.requireChange && ledger.modifiedFiles.length === 0 ? [NOTHING_CHANGED] : []),
    ...(unchecked === undefined ? [] : [unchecked.reason]),
    ...lacking(criteria, ledger, tools),
    ...(own === undefined ? [] : [own]),
  ]
  if (reasons.length === 0) return undefined
  return unchecked?.report === undefined ? { reasons } : { reasons, report: unchecked.report }
}

/** Tools that have not succeeded yet, and artifacts that are not there yet. */
function lacking(criteria: CompletionCriteria, ledger: Ledger, tools: readonly ToolDefinition[]): string[] {
  const { requiredTools = [], requiredArtifacts = [], requireRequiredTools } = criteria
  const required = requireRequiredTools ? tools.filter((tool) => tool.optionality === "required") : []
  const names = new Set([...requiredTools, ...required.map((tool) => tool.name)])
  return [
    ...[...names]
      .filter((name) => !ledger.hasSucceeded(name))
      .map((name) => `the required tool '${name}' has not succeeded yet`),
    ...requiredArtifacts
      .filter((artifact) => !ledger.artifacts.has(artifact))
      .map((artifact) => `the artifact '${artifact}' has not been produced yet`),
  ]
}

/** The refusal as the next prompt: the reasons, the failing report, and what to do. */
export function refusalText({ reasons, report }: Unmet): string {
  const list = reasons.map((reason) => `- ${reason}`).join("\n")
  const shown = report === undefined ? "" : `\n\nThe last report:\n${report}`
  return (
    `The task is not complete:\n${list}${shown}\n\nGo on with the tools; what they return decides, not what ` +
    "you write."
  )
}

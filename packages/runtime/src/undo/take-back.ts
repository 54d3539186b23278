import { ToolwrightError } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"
import { changeHistory } from "../workspace/tool-workspace.ts"
import { undoOnRecord, type RecordedUndo, type UndoRecord } from "./recorded-undo.ts"

/**
 * Takes back what a run or a call changed in the workspace of a configuration. @throws ToolwrightError
 * `NOTHING_TO_UNDO` too
 */
export async function takeBack(
  configuration: Configuration,
  id: string | undefined,
  { cwd, env, ...record }: UndoRecord & { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<RecordedUndo> {
  const history = await changeHistory(configuration, cwd, env)
  if (history !== undefined) return undoOnRecord(history, id, record)
  throw new ToolwrightError("NOTHING_TO_UNDO", "Nothing is kept here, so nothing can be taken back.", {
    hint: "The setting undo.enabled switches it on; in folders that are only read nothing is changed.",
  })
}

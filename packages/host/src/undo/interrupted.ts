import type { InterruptedCall } from "@toolwright/toolbox"
import type { Change, ChangeEntry } from "./change-log.ts"
import { sameState, type EntryState } from "./entry-state.ts"

/** What became of a call whose process died, by what its entry says and what lies there now. */
export interface InterruptedOutcome {
  readonly outcome: "done" | "not-done"
  /** Of its entry. */
  readonly id?: string
  /** Real paths that it changed. */
  readonly paths: readonly string[]
}

/**
 * What became of a call that changes files through the workspace alone: each change is noted before it is made, so
 * where nothing is noted, nothing was done.
 *
 * @param entries all that are on record
 * @param now what lies at a path
 * @returns undefined where it cannot be told: somebody else has changed the same since
 */
export function outcomeOf(
  entries: readonly ChangeEntry[],
  { runId, callId }: Pick<InterruptedCall, "runId" | "callId">,
  now: (path: string) => EntryState,
): InterruptedOutcome | undefined {
  const entry = entries.findLast((each) => each.runId === runId && each.callId === callId)
  if (entry === undefined) return { outcome: "not-done", paths: [] }
  const { id, changes, unkept, openProgram } = entry
  if (openProgram || unkept.length > 0) return undefined
  const found = new Set(changes.map((change) => standOf(change, now)))
  const paths = [...new Set(changes.map(({ path }) => path))]
  if (found.has("other")) return undefined
  if (!found.has("after")) return { outcome: "not-done", paths: [] }
  if (!found.has("before")) return { outcome: "done", id, paths }
  // What is removed piece by piece is removed to its end by the same call; a text half written is nobody's to judge.
  const pieces = changes.every(({ after }) => after === undefined || after.kind === "none")
  return pieces ? { outcome: "not-done", paths: [] } : undefined
}

/** Whether a path is as it was before the change, or as it was to be. */
function standOf(
  { path, before, after, done }: Change,
  now: (path: string) => EntryState,
): "before" | "after" | "other" {
  if (done) return after !== undefined && sameState(before, after) ? "before" : "after"
  const there = now(path)
  if (after !== undefined && sameContent(after, there)) return "after"
  if (sameState(before, there)) return "before"
  // Nobody said what was to lie there: a removal, a move, a new directory.
  return after === undefined && there.kind !== before.kind ? "after" : "other"
}

/** A new file gets its mode from the process, so that was not known beforehand. */
function sameContent(planned: EntryState, there: EntryState): boolean {
  if (planned.kind === "file" && there.kind === "file") return planned.hash === there.hash && planned.hash !== ""
  return sameState(planned, there)
}

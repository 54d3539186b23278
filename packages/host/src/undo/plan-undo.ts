import { readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { isInside } from "../paths/roots.ts"
import type { Change, ChangeEntry } from "./change-log.ts"
import { compiledIn } from "./compiled.ts"
import { isKept, sameState, type EntryState } from "./entry-state.ts"
import { changesByPath, changesInEffect, type LoggedChange } from "./in-effect.ts"

/** A path that is to be as it was. */
export interface Restoration {
  readonly path: string
  readonly now: EntryState
  readonly to: EntryState
  /** The changes that this takes back, oldest first. */
  readonly undoes: readonly number[]
}

/** A path that stays as it is, and why. */
export interface RefusedPath {
  readonly path: string
  readonly reason: string
}

export interface UndoPlan {
  readonly restorations: readonly Restoration[]
  readonly refused: readonly RefusedPath[]
  /** Paths that are as they were already: they count as taken back from then on, and nothing is done to them. */
  readonly settled: readonly Restoration[]
}

/** What planning looks at. */
export interface UndoSight {
  /** What lies at a real path now; its content is kept. */
  now(path: string): EntryState
  has(hash: string): boolean
  /** Whether a path may be written at all: it lies in a folder that is open for writing. */
  admits(path: string): boolean
}

/**
 * What taking back some entries means, path by path. A path is refused where something else has changed it since, by
 * the log or by what lies there now.
 *
 * @param entries the whole log
 * @param chosen ids of the entries to take back, all of them together
 */
export function planUndo(entries: readonly ChangeEntry[], chosen: ReadonlySet<string>, sight: UndoSight): UndoPlan {
  const restorations: Restoration[] = []
  const settled: Restoration[] = []
  const refused: RefusedPath[] = []
  const all = changesByPath(entries)
  for (const [path, changes] of all) {
    const first = changes.findIndex(({ entry }) => chosen.has(entry.id))
    if (first === -1) continue
    const planned = planPath(path, { since: changes.slice(first), entries, chosen }, sight)
    if (planned === undefined) continue
    if (!("reason" in planned) && sameState(planned.now, planned.to)) {
      settled.push(planned)
      continue
    }
    const reason = "reason" in planned ? planned.reason : folderProblem(planned, all, chosen)
    if ("reason" in planned || reason !== undefined) refused.push({ path, reason: reason! })
    else restorations.push(planned)
  }
  return { ...consistent(restorations, refused, sight), settled }
}

const NOT_KEPT = "what was there before has not been kept"

/**
 * What comes back into a folder comes back into the one that it was in, not into another of the same name; and a folder
 * does not go for as long as something that was changed in it may have to come back.
 */
function folderProblem(
  { path, now, to, undoes }: Restoration,
  all: ReadonlyMap<string, readonly LoggedChange[]>,
  chosen: ReadonlySet<string>,
): string | undefined {
  const changedBy = (other: string, since: number): string | undefined => {
    const later = (all.get(other) ?? []).filter(({ change }) => change.n > since)
    const by = changesInEffect(later).find(({ entry, change }) => !chosen.has(entry.id) && changesKind(change))
    return by === undefined ? undefined : `${by.entry.tool} (${by.entry.id})`
  }
  if (to.kind !== "none") {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      const by = changedBy(folder, undoes.at(-1)!)
      if (by !== undefined) return `the folder that it was in has been changed since, by ${by}`
    }
  }
  if (now.kind !== "directory" || to.kind === "directory") return undefined
  for (const below of all.keys()) {
    const by = below !== path && isInside(path, below) ? changedBy(below, undoes[0]!) : undefined
    if (by !== undefined) return `something in it has been changed since, by ${by}`
  }
  return undefined
}

/** Whether a change is more than one of mode, content or target. */
function changesKind({ before, after }: Change): boolean {
  return after === undefined || before.kind !== after.kind
}

interface PathPast {
  /** The changes of a path from the first chosen one on. */
  readonly since: readonly LoggedChange[]
  readonly entries: readonly ChangeEntry[]
  readonly chosen: ReadonlySet<string>
}

/** Who changed a path that is not as the log has it: a call whose change could not be kept, or somebody else. */
function whoElse(path: string, last: LoggedChange, entries: readonly ChangeEntry[]): string {
  const later = entries.slice(entries.indexOf(last.entry))
  const by = later.findLast(({ unkept }) => unkept.some((each) => each.path === path))
  return by === undefined
    ? "it has been changed since, by nobody that is on record"
    : `${by.tool} has changed it since (${by.id}), and that could not be kept`
}

/** @returns undefined where nothing is left to take back */
function planPath(
  path: string,
  { since, entries, chosen }: PathPast,
  sight: UndoSight,
): Restoration | RefusedPath | undefined {
  const inEffect = changesInEffect(since)
  const from = inEffect.findIndex(({ entry }) => chosen.has(entry.id))
  if (from === -1) return undefined
  const top = inEffect.slice(from)
  const other = top.find(({ entry }) => !chosen.has(entry.id))
  if (other !== undefined) return { path, reason: `${other.entry.tool} has changed it since (${other.entry.id})` }
  const { before } = top[0]!.change
  const last = top.at(-1)!.change
  const now = sight.now(path)
  const undoes = top.map(({ change }) => change.n)
  if (sameState(now, before)) return { path, now, to: before, undoes }
  const isAsLeft = last.done ? sameState(now, last.after!) : last.after !== undefined && sameContent(now, last.after)
  if (!isAsLeft) return { path, reason: whoElse(path, top.at(-1)!, entries) }
  if (!isKept(before)) return { path, reason: NOT_KEPT }
  if (!sight.admits(path)) return { path, reason: "it is not in a folder that may be written" }
  return { path, now, to: before, undoes }
}

/** For a change that nobody saw the end of: what was planned says nothing certain of the mode. */
function sameContent(now: EntryState, planned: EntryState): boolean {
  if (now.kind === "file" && planned.kind === "file") return now.hash === planned.hash && now.hash !== ""
  if (now.kind === "directory") return planned.kind === "directory"
  return sameState(now, planned)
}

/** Without what cannot be done for want of its folder, or because a folder holds something else by now. */
function consistent(
  all: readonly Restoration[],
  refusedBefore: readonly RefusedPath[],
  sight: UndoSight,
): Omit<UndoPlan, "settled"> {
  const plan = new Map(all.map((each) => [each.path, each]))
  const refused = [...refusedBefore]
  const kindAfter = (path: string): EntryState["kind"] | undefined => plan.get(path)?.to.kind
  /** A content that was moved is still there, under its other name. */
  const isThere = (hash: string): boolean =>
    sight.has(hash) || [...plan.values()].some(({ now }) => now.kind === "file" && now.hash === hash)
  const problemOf = ({ path, now, to }: Restoration): string | undefined => {
    if (to.kind === "file" && !sameContent(now, to) && !isThere(to.hash)) return NOT_KEPT
    const parent = dirname(path)
    const parentKind = kindAfter(parent)
    if (to.kind !== "none" && !(parentKind === "directory" || (parentKind === undefined && isDirectory(parent))))
      return "the folder that it was in is gone"
    if (now.kind === "directory" && to.kind !== "directory") {
      const isInTheWay = (name: string): boolean =>
        kindAfter(join(path, name)) !== "none" && compiledIn(join(path, name)) === undefined
      const stays = namesIn(path).find(isInTheWay)
      if (stays !== undefined) return `it holds something else by now: ${stays}`
    }
    return undefined
  }
  for (let again = true; again;) {
    again = false
    for (const each of plan.values()) {
      const reason = problemOf(each)
      if (reason === undefined) continue
      plan.delete(each.path)
      refused.push({ path: each.path, reason })
      again = true
    }
  }
  return { restorations: [...plan.values()], refused }
}

function isDirectory(path: string): boolean {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

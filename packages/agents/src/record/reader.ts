import { readdirSync } from "node:fs"
import { join } from "node:path"
import { isOwnFolder, readStateFile, stateTextOf } from "@toolwright/host/state-files"
import { messageOf, nearest, ToolwrightError, type RunEvent } from "@toolwright/toolbox"
import type { RunHead } from "./recorder.ts"

/** A recorded run: its head, its events without the deltas, and its numbered files. */
export interface RecordedRun {
  head: RunHead
  folder: string
  events: (RunEvent & { at: string })[]
  files: { name: string; text: string }[]
}

/** Largest file of a record that is read: a long run's events, with room to spare. */
const MOST_BYTES = 256 * 1024 * 1024

/** How a recorded run stands: as it ended, under way, or interrupted (its process is gone). */
export type RunStatus = NonNullable<RunHead["summary"]>["outcome"] | "running" | "interrupted"

/**
 * The recorded runs in a folder, newest first; none when there is no such folder. Folders that hold no run are passed
 * over.
 */
export function listRuns(folder: string): RunHead[] {
  return namesIn(folder)
    .map((name) => readHead(folder, name))
    .filter((head) => head !== undefined)
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))
}

/**
 * Reads one run. `latest` names the newest; the beginning of an id is enough where only one run begins so.
 *
 * @throws ToolwrightError `UNKNOWN_RUN`, with the ids that come near
 */
export function readRun(folder: string, runId: string): RecordedRun {
  const heads = listRuns(folder)
  const matching = runId === "latest" ? heads.slice(0, 1) : heads.filter((head) => head.runId.startsWith(runId))
  const head =
    matching.find((candidate) => candidate.runId === runId) ?? (matching.length === 1 ? matching[0] : undefined)
  if (head === undefined) {
    const known = heads.map((candidate) => candidate.runId)
    const close = matching.length > 1 ? matching.map((candidate) => candidate.runId) : nearest(runId, known)
    throw new ToolwrightError(
      "UNKNOWN_RUN",
      matching.length > 1 ? `Several runs begin with '${runId}'.` : `There is no run '${runId}'.`,
      {
        hint:
          heads.length === 0
            ? `No runs are recorded in ${folder}.`
            : `Known: ${(close.length > 0 ? close : known.slice(0, 5)).join(", ")}.`,
      },
    )
  }
  const own = join(folder, head.runId)
  const files = namesIn(own)
    .filter((name) => /^\d{3,}-/.test(name))
    .toSorted()
    .map((name) => ({ name, text: textOf(join(own, name)) }))
  return { head, folder: own, events: readEvents(own), files }
}

export function statusOf(head: RunHead): RunStatus {
  if (head.summary !== undefined) return head.summary.outcome
  try {
    process.kill(head.pid, 0)
    return "running"
  } catch (error) {
    return (error as { code?: string }).code === "EPERM" ? "running" : "interrupted"
  }
}

/**
 * The head of a run, where what stands in the folder is one. Others may have put it there: a head that names another
 * run would lead to files that are not this one's.
 */
function readHead(folder: string, name: string): RunHead | undefined {
  const own = join(folder, name)
  if (!isOwnFolder(own)) return undefined
  try {
    const head = JSON.parse(stateTextOf(join(own, "run.json"), { limit: MOST_BYTES }) ?? "") as Partial<RunHead> | null
    const texts = [head?.runId, head?.agent, head?.task, head?.startedAt]
    return texts.every((text) => typeof text === "string") && head?.runId === name && isEnd(head.summary)
      ? (head as RunHead)
      : undefined
  } catch {
    return undefined
  }
}

function isEnd(summary: RunHead["summary"]): boolean {
  return summary === undefined || (typeof summary.outcome === "string" && typeof summary.times?.totalMs === "number")
}

/** The last line may be half written when the process died; it is left out. */
function readEvents(folder: string): (RunEvent & { at: string })[] {
  const lines = (stateTextOf(join(folder, "events.jsonl"), { limit: MOST_BYTES }) ?? "").split("\n")
  return lines.flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as RunEvent & { at: string }]
    } catch {
      return []
    }
  })
}

/** A file of a record; what is no plain file says so in its text's place. */
function textOf(path: string): string {
  try {
    return readStateFile(path, { limit: MOST_BYTES })?.toString("utf8") ?? ""
  } catch (thrown) {
    return messageOf(thrown)
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

import { DIFF_LIMIT } from "../edit/diff.ts"
import { decodeText } from "../text/encoding.ts"
import type { ContentStore } from "./content-store.ts"
import type { EntryState } from "./entry-state.ts"

/** Larger contents are told by their sizes alone. */
const LARGEST_COMPARED = 512 * 1024
/** Lines added and removed up to which the shortest difference is looked for. */
const MOST_EDITS = 500

/** What becomes of a path, in one line, and where it is a text the lines that change. */
export async function describeChange(
  path: string,
  now: EntryState,
  to: EntryState,
  store: ContentStore,
): Promise<{ line: string; diff: string }> {
  const diff =
    now.kind === "link" || to.kind === "link" ? "" : await textDiff(path, textOf(now, store), textOf(to, store))
  return { line: `${verbFor(now, to)} ${path}${details(now, to)}`, diff }
}

/** What became of a path, likewise. */
export async function describeDone(
  path: string,
  before: EntryState,
  after: EntryState,
  store: ContentStore,
): Promise<{ line: string; diff: string }> {
  const verb = before.kind === "none" ? "made" : after.kind === "none" ? "removed" : "changed"
  const { diff } = await describeChange(path, before, after, store)
  return { line: `${verb} ${path}${details(before, after)}`, diff }
}

function verbFor(now: EntryState, to: EntryState): string {
  if (to.kind === "none") return now.kind === "directory" ? "remove folder" : "remove"
  if (now.kind === "none") return to.kind === "directory" ? "make folder" : "bring back"
  return "restore"
}

function details(now: EntryState, to: EntryState): string {
  const parts: string[] = []
  if (to.kind === "link") parts.push(`link to ${to.target}`)
  if (now.kind !== to.kind && now.kind !== "none" && to.kind !== "none")
    parts.push(`was a ${now.kind}, becomes a ${to.kind}`)
  if ("mode" in now && "mode" in to && now.mode !== to.mode)
    parts.push(`mode ${now.mode.toString(8)} → ${to.mode.toString(8)}`)
  if (now.kind === "file" && to.kind === "file" && now.size !== to.size) parts.push(`${now.size} → ${to.size} bytes`)
  return parts.length === 0 ? "" : ` (${parts.join(", ")})`
}

/** Undefined where it is no text, or too long to be compared. */
function textOf(state: EntryState, store: ContentStore): string | undefined {
  if (state.kind !== "file") return ""
  if (state.size > LARGEST_COMPARED) return undefined
  const bytes = store.get(state.hash)
  return bytes === undefined ? undefined : decodeText(bytes)?.text
}

/** A unified difference of two texts, bounded in time and length; empty where it would take long. */
export async function textDiff(path: string, before: string | undefined, after: string | undefined): Promise<string> {
  if (before === undefined || after === undefined || before === after) return ""
  const { structuredPatch } = await import("diff")
  const patch = structuredPatch(path, path, before, after, "", "", { context: 3, maxEditLength: MOST_EDITS })
  if (patch === undefined) return `[too many lines differ to show them: ${lines(before)} before, ${lines(after)} after]`
  const text = patch.hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines,
    ])
    .join("\n")
  return text.length <= DIFF_LIMIT ? text : `${text.slice(0, text.lastIndexOf("\n", DIFF_LIMIT))}\n[more lines differ]`
}

function lines(text: string): number {
  return text === "" ? 0 : text.split("\n").length - (text.endsWith("\n") ? 1 : 0)
}

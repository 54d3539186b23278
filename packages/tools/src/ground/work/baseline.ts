import { createHash } from "node:crypto"
import type { CheckBaseline, EarlierChecks, JsonObject, SavedBaseline } from "@toolwright/toolbox"
import type { ProcessHost } from "@toolwright/host/process"
import { readCheckFiles, type CheckFile, type CheckKind } from "./check-files.ts"
import { changedInstalled, noteInstalled, type Installed } from "./installed.ts"

/**
 * Notes the tests of a workspace and what decides how they run, contents and all, so that they can be run again when
 * somebody has changed them.
 */
export async function noteChecks(host: ProcessHost, signal: AbortSignal): Promise<CheckBaseline> {
  const installed = await noteInstalled(host.root)
  return baselineOf(host, { installed, before: await readCheckFiles(host.root, signal) })
}

/**
 * The checks that an earlier process noted. What of them is as it was is read again, so only the rest has to be kept.
 */
export async function notedChecks(
  host: ProcessHost,
  signal: AbortSignal,
  { saved, texts }: SavedBaseline,
): Promise<CheckBaseline> {
  const { installed, files } = saved as unknown as SavedChecks
  const now = await readCheckFiles(host.root, signal)
  const wanted = files.filter(({ path, mark }) => markOf(now.get(path)) !== mark)
  const kept = await texts(wanted.flatMap(({ text }) => text ?? []))
  const before = files.map(({ path, kind, mark, text }): [string, CheckFile] => {
    const there = now.get(path)
    const content = markOf(there) === mark ? there!.content : kept.get(text ?? "")
    return [path, { kind, content: markOf({ kind, content }) === mark ? content : undefined, mark }]
  })
  return baselineOf(host, { installed, before: new Map(before) })
}

/**
 * The checks as JSON: of each file a mark by which it is known again, and the name under which its content was kept.
 */
interface SavedChecks {
  installed: Installed
  files: { path: string; kind: CheckKind; mark: string; text?: string }[]
}

/** Characters of checks that are kept for a run that may have to go on. Of more only the marks are. */
const MOST_KEPT = 8 * 1024 * 1024

function savedChecks(
  installed: Installed,
  before: ReadonlyMap<string, CheckFile>,
  keep: (text: string) => string | undefined,
): SavedChecks {
  let room = MOST_KEPT
  const files = [...before].map(([path, file]) => {
    const { kind, content } = file
    room -= content?.length ?? 0
    const text = content === undefined || room < 0 ? undefined : keep(content)
    return { path, kind, mark: markOf(file), ...(text === undefined ? {} : { text }) }
  })
  return { installed, files }
}

function baselineOf(
  host: ProcessHost,
  { installed, before }: { installed: Installed; before: ReadonlyMap<string, CheckFile> },
): CheckBaseline {
  const earlierChecks = onceForEachState(host, before)
  return {
    save: (keep) => savedChecks(installed, before, keep) as unknown as JsonObject,
    any: [...before.values()].some(({ kind }) => kind === "test"),
    async compare(compareSignal) {
      const now = await readCheckFiles(host.root, compareSignal)
      const difference = compareFiles(before, now)
      const tampered = await changedInstalled(host.root, installed, compareSignal)
      if (difference === undefined && tampered.length === 0) return undefined
      const earlier = difference === undefined ? undefined : await earlierChecks(now, compareSignal)
      if (tampered.length === 0) return { ...difference!, ...earlier! }
      const report = `What is installed and runs the tests is not as it was, and was not kept: ${shortList(tampered)}.`
      return {
        changed: [...(difference?.changed ?? []), ...tampered],
        removed: difference?.removed ?? [],
        added: difference?.added ?? [],
        passed: false,
        report: [report, ...(earlier?.passed === false ? [earlier.report] : [])].join("\n"),
      }
    },
  }
}

/**
 * Runs the earlier checks, and not again while the work is as it was when they last ran: a commit that is insisted on
 * and the end of a run ask once more, and a project's checks may take minutes.
 */
function onceForEachState(host: ProcessHost, before: ReadonlyMap<string, CheckFile>) {
  let last: { state: string; passed: boolean; report: string } | undefined
  return async (
    now: ReadonlyMap<string, CheckFile>,
    signal: AbortSignal,
  ): Promise<{ passed: boolean; report: string }> => {
    const [{ runEarlierChecks }, { stateOfWork }] = await Promise.all([
      import("./earlier-checks.ts"),
      import("./work-state.ts"),
    ])
    const work = await stateOfWork(host.root, signal)
    // Hooks lie beside the work.
    const hooks = [...now].flatMap(([path, file]) => (file.kind === "hook" ? [[path, markOf(file)]] : []))
    const state = work === undefined ? undefined : JSON.stringify([work, hooks])
    if (state !== undefined && last?.state === state) return { passed: last.passed, report: last.report }
    const { passed, report, ranThrough } = await runEarlierChecks(host, before, now, signal)
    last = state !== undefined && ranThrough === true ? { state, passed, report } : undefined
    return { passed, report }
  }
}

/** What became of the files; nothing where all are as they were and nothing was added that decides how they run. */
function compareFiles(
  before: ReadonlyMap<string, CheckFile>,
  now: ReadonlyMap<string, CheckFile>,
): Pick<EarlierChecks, "changed" | "removed" | "added"> | undefined {
  const changed: string[] = []
  const removed: string[] = []
  for (const [path, file] of before) {
    const other = now.get(path)
    if (other === undefined) removed.push(path)
    else if (markOf(other) !== markOf(file)) changed.push(path)
  }
  const added = [...now].filter(([path, { kind }]) => kind !== "test" && !before.has(path)).map(([path]) => path)
  return changed.length + removed.length + added.length === 0 ? undefined : { changed, removed, added }
}

const shortList = (all: readonly string[]): string =>
  all.length > 3 ? `${all.slice(0, 3).join(", ")} and ${all.length - 3} more` : all.join(", ")

function markOf(file: CheckFile | undefined): string {
  if (file?.content === undefined) return file?.mark ?? "unknown"
  return createHash("sha256").update(file.content).digest("hex")
}

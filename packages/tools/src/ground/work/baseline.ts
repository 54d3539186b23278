import { createHash } from "node:crypto"
import type { CheckBaseline, EarlierChecks } from "@toolwright/toolbox"
import type { ProcessHost } from "@toolwright/host/process"
import { readCheckFiles, type CheckFile } from "./check-files.ts"
import { changedInstalled, noteInstalled } from "./installed.ts"

/**
 * Notes the tests of a workspace and what decides how they run, contents and all, so that they can be run again when
 * somebody has changed them.
 */
export async function noteChecks(host: ProcessHost, signal: AbortSignal): Promise<CheckBaseline> {
  const installed = await noteInstalled(host.root)
  const before = await readCheckFiles(host.root, signal)
  return {
    any: [...before.values()].some(({ kind }) => kind === "test"),
    async compare(compareSignal) {
      const now = await readCheckFiles(host.root, compareSignal)
      const difference = compareFiles(before, now)
      const tampered = await changedInstalled(host.root, installed, compareSignal)
      if (difference === undefined && tampered.length === 0) return undefined
      const { runEarlierChecks } = await import("./earlier-checks.ts")
      const earlier = difference === undefined ? undefined : await runEarlierChecks(host, before, now, compareSignal)
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

const markOf = ({ content }: CheckFile): string =>
  content === undefined ? "unknown" : createHash("sha256").update(content).digest("hex")

import type { PathPolicy } from "../paths/policy.ts"
import { isInside } from "../paths/roots.ts"
import { isAlive } from "../process-life.ts"
import type { ChangeLog, ChangeEntry } from "./change-log.ts"
import type { ContentStore } from "./content-store.ts"
import type { NameSeal } from "./sealed-names.ts"
import { lookAtTree, treeDifference, unpackTree, type Tree, type TreeSource } from "./tree.ts"

interface Parts {
  readonly log: ChangeLog
  readonly store: ContentStore
  readonly names: NameSeal
  readonly policy: PathPolicy
  readonly tree: () => TreeSource
}

/** Notes what programs changed whose end nobody saw, since the process that ran them is gone. */
export async function closeOpenPrograms(parts: Parts): Promise<void> {
  const { log, store, names, tree } = parts
  const all = log.read()
  for (const entry of all) {
    if (!entry.openProgram || isAlive(entry.pid)) continue
    const bytes = log.treeBefore(entry.id)
    const started = Date.parse(entry.at) * 1000
    if (bytes !== undefined) {
      const before = unpackTree(bytes, names)
      const now = await lookAtTree(tree(), store, new Map())
      const left = beforeOthers({ before, now, all, entry, started }, parts)
      const { changes, unkept } = treeDifference(before, left)
      const own = changes.map((change, at) => ({ ...change, n: started + 1 + at }))
      log.append(entry.id, [
        ...own.map(({ n, path, before: was }) => ({ type: "change", n, path, before: was }) as const),
        { type: "done", after: own.map(({ n, after }) => [n, after] as const) },
        ...(unkept.length === 0 ? [] : [{ type: "unkept", unkept } as const]),
      ])
    }
    log.append(entry.id, [{ type: "program-end" }])
    log.dropTree(entry.id)
  }
}

interface OpenProgram {
  readonly before: Tree
  readonly now: Tree
  readonly all: readonly ChangeEntry[]
  readonly entry: ChangeEntry
  readonly started: number
}

/** The tree as a program left it: of what calls have changed since, what lay there before the first of them. */
function beforeOthers({ before, now, all, entry, started }: OpenProgram, { policy }: Parts): Tree {
  const skipped = [...before.skipped.keys(), ...now.skipped.keys()]
  const isSeen = (path: string): boolean => policy.readable(path) && !skipped.some((folder) => isInside(folder, path))
  const later = all
    .filter((other) => other !== entry)
    .flatMap(({ changes }) => changes.filter(({ n, path }) => n > started && isSeen(path)))
    .sort((one, other) => other.n - one.n)
  const entries = new Map(now.entries)
  for (const { path, before: state } of later) {
    if (state.kind === "none") entries.delete(path)
    else entries.set(path, { state, mark: "" })
  }
  return { ...now, entries }
}

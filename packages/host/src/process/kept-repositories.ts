import { createHash } from "node:crypto"
import { basename, dirname, join } from "node:path"
import { entriesOf, isFolder, lookAt } from "../look.ts"
import { isInside } from "../paths/roots.ts"
import { objectFolders, resolveRepository, type RepositoryLayout } from "../repository/layout.ts"
import { plainFileOrNothing } from "../repository/plain-file.ts"
import { refsOf } from "../repository/state.ts"
import type { ProcessHost } from "./host.ts"
import { withModules } from "./kept-history.ts"

/** A repository that commands in the workspace can read. */
export interface KeptRepository {
  /** Undefined where it is one that tools do not touch. */
  readonly layout: RepositoryLayout | undefined
  readonly commonDir: string
  /** The folders that its paths are below. */
  readonly tops: readonly string[]
  /** Where its objects lie, those that it borrows among them. */
  readonly objects: readonly string[]
  /** Another one whenever the repository holds something else. */
  mark(): string
  /** What files of its own lead to beside refs and their logs, such as FETCH_HEAD. */
  commits(): readonly string[]
  /** The folders with the index of each of its working trees. */
  indexes(): readonly string[]
}

const POINTERS_BYTES = 1024 * 1024
/** HEAD, FETCH_HEAD, MERGE_HEAD and the like. */
const POINTERS = /^[A-Z][A-Z_]*$/u

/** The repositories in the workspace, their submodules among them, each one once. */
export function keptRepositories(host: ProcessHost, found: Iterable<string>): KeptRepository[] {
  const roots = host.workspace.roots.map((root) => root.real)
  const all = new Map<string, { layout: RepositoryLayout | undefined; tops: Set<string> }>()
  const add = (commonDir: string, layout: RepositoryLayout | undefined, top: string): void => {
    const known = all.get(commonDir) ?? { layout, tops: new Set() }
    known.tops.add(top)
    all.set(commonDir, known)
  }
  for (const path of found) {
    const top = basename(path) === ".git" ? dirname(path) : host.root
    const layout = layoutAt(path, top, roots)
    const isFound = layout !== undefined && isShown(host, layout, roots)
    if (isFound) add(layout.commonDir, layout, top)
    // What is no file that points elsewhere has objects of its own.
    if (!isFolder(path)) continue
    for (const own of withModules(path)) {
      if (own === layout?.commonDir || !isFolder(join(own, "objects"))) continue
      add(own, own === path ? undefined : plainLayout(own, host.root), own === path ? top : host.root)
    }
  }
  return [...all].map(([commonDir, { layout, tops }]) => repositoryAt(commonDir, layout, [...tops]))
}

function layoutAt(path: string, top: string, roots: readonly string[]): RepositoryLayout | undefined {
  if (basename(path) !== ".git") return plainLayout(path, top)
  try {
    return resolveRepository(top, roots)
  } catch {
    return undefined
  }
}

function plainLayout(gitDir: string, top: string): RepositoryLayout {
  return { top, gitDir, commonDir: gitDir, linked: false }
}

/** What lies outside the roots is shown for the first one's working tree alone. */
function isShown(host: ProcessHost, { top, commonDir }: RepositoryLayout, roots: readonly string[]): boolean {
  return top === host.root || roots.some((root) => isInside(root, commonDir))
}

function repositoryAt(
  commonDir: string,
  layout: RepositoryLayout | undefined,
  tops: readonly string[],
): KeptRepository {
  const gitDirs = [...new Set([layout?.gitDir ?? commonDir, commonDir, ...workTrees(commonDir)])]
  const pointers = () =>
    gitDirs.flatMap((gitDir) =>
      entriesOf(gitDir)
        .filter((entry) => entry.isFile() && POINTERS.test(entry.name))
        .map(({ name }) => plainFileOrNothing(join(gitDir, name), POINTERS_BYTES)?.toString("latin1") ?? ""),
    )
  const refs = () => refsOf({ gitDir: layout?.gitDir ?? commonDir, commonDir })
  return {
    layout,
    commonDir,
    tops,
    get objects() {
      return [...new Set([join(commonDir, "objects"), ...objectFolders(commonDir)])].filter(isFolder)
    },
    mark() {
      const hash = createHash("sha256")
      for (const text of [...pointers(), ...[...refs()].flat()]) hash.update(`${text.length}\n${text}`)
      const read = ["shallow", "objects/info/alternates", "config"].map((name) => join(commonDir, name))
      const own = gitDirs.flatMap((gitDir) => ["index", "logs/HEAD"].map((name) => join(gitDir, name)))
      for (const path of [...read, ...own]) {
        const stat = lookAt(path)
        hash.update(`${path}\n${stat?.ino} ${stat?.mtimeMs} ${stat?.size}\n`)
      }
      return `${commonDir}\n${tops.join("\n")}\n${hash.digest("hex")}`
    },
    commits() {
      const known = new Set(refs().values())
      const ids = pointers().flatMap((text) => text.match(/^[0-9a-f]{40}(?:[0-9a-f]{24})?(?=\s|$)/gmu) ?? [])
      return [...new Set(ids)].filter((id) => !known.has(id))
    },
    indexes: () => gitDirs.filter((gitDir) => lookAt(join(gitDir, "index")) !== undefined),
  }
}

/** The folders of further working trees. */
function workTrees(commonDir: string): string[] {
  const folder = join(commonDir, "worktrees")
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(folder, name))
}

import { mkdirSync, type Dirent } from "node:fs"
import { dirname, join } from "node:path"
import { entriesOf, isThere, lookAt } from "../look.ts"
import { isInside } from "../paths/roots.ts"
import { createTurns } from "../turns.ts"

/** What a sandboxed program must leave as it is, by absolute paths. */
export interface Guarded {
  /** Folders that stay in their places, from the top down; whether they can be written to is their root's matter. */
  readonly pinned: readonly string[]
  /** Files and folders that stay as they are. */
  readonly fixed: readonly string[]
  /** What is not there and must not come to be. */
  readonly absent: readonly string[]
  /** The folders of all repositories that were found, and the files that point to one. */
  readonly repositories: ReadonlySet<string>
  /** Those among them that may be written to. */
  readonly writable: readonly string[]
}

/** A folder to look through, and whether repositories in it may be written to, configuration and hooks excepted. */
export interface GuardedRoot {
  readonly path: string
  readonly repositories: "read-only" | "writable"
}

/** What tools are configured by. */
const RULES = new Set(["toolwright.yaml", ".toolwright"])
/** Dependencies hold no configuration of ours, and repositories only as whole packages. */
const SKIPPED = new Set(["node_modules", ".venv", "venv", "__pycache__"])
const MOST_PACKAGES = 3000
/** Build outputs are looked through when everything else was: a published site may be a repository of its own. */
const LATE = new Set(["target", "dist"])
/** What git takes a folder for a repository by. */
const BARE = ["HEAD", "objects", "refs"]
const MOST_FOLDERS = 4000
const MOST_PINS = 300

/**
 * Looks for what a program outside the sandbox obeys although a program inside could write it: configuration of tools,
 * and of repositories (their configuration and hooks name programs that git runs). A file that is mounted read-only
 * stays as it is only while the folders above it cannot be moved away, so these are pinned.
 */
export async function guardedIn(roots: readonly GuardedRoot[]): Promise<Guarded> {
  const pinned = new Set<string>()
  const fixed: string[] = []
  const absent: string[] = []
  const known = new Set<string>()
  const writable: string[] = []
  for (const { path: root, repositories } of roots) {
    for (const found of await findIn(root)) {
      if (found.kind !== "rules") known.add(found.path)
      if (pinned.size > MOST_PINS) continue
      for (let at = dirname(found.path); at !== root && isInside(root, at); at = dirname(at)) pinned.add(at)
      if (found.kind === "rules" || found.kind === "pointer" || repositories === "read-only") fixed.push(found.path)
      else {
        pinned.add(found.path)
        writable.push(found.path)
        const inner = insideRepository(found.path)
        fixed.push(...inner.fixed)
        absent.push(...inner.absent)
      }
    }
    const rules = join(root, "toolwright.yaml")
    if (!fixed.includes(rules)) absent.push(rules)
  }
  return { pinned: [...pinned].sort((a, b) => a.length - b.length), fixed, absent, repositories: known, writable }
}

/** The folders of repositories that lie in some folders, bare ones too, and the files and links in place of one. */
export async function repositoriesIn(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map(findIn))
  return found.flat().flatMap(({ kind, path }) => (kind === "rules" ? [] : [path]))
}

/**
 * What git runs or follows in a repository's folder: its configuration, hooks, where its shared part lies, and the same
 * of its submodules and further working trees.
 */
export function insideRepository(gitDir: string): Pick<Guarded, "fixed" | "absent"> {
  // What is not there cannot be mounted: a folder for hooks does no harm, and every repository has one.
  makeHooks(gitDir)
  const fixed: string[] = []
  const absent: string[] = []
  for (const name of ["config", "hooks", "config.worktree"]) {
    if (isThere(join(gitDir, name))) fixed.push(join(gitDir, name))
    else absent.push(join(gitDir, name))
  }
  const common = join(gitDir, "commondir")
  if (isThere(common)) fixed.push(common)
  else absent.push(common)
  for (const entry of folders(join(gitDir, "worktrees")))
    for (const name of ["commondir", "gitdir", "config.worktree"])
      if (isThere(join(gitDir, "worktrees", entry, name))) fixed.push(join(gitDir, "worktrees", entry, name))
  for (const entry of folders(join(gitDir, "modules"))) {
    const inner = insideRepository(join(gitDir, "modules", entry))
    fixed.push(...inner.fixed)
  }
  return { fixed, absent }
}

function makeHooks(gitDir: string): void {
  try {
    mkdirSync(join(gitDir, "hooks"), { recursive: true })
  } catch {
    // Something else lies there, which stays as it is.
  }
}

interface Found {
  readonly path: string
  readonly kind: "rules" | "repository" | "pointer"
}

async function findIn(root: string): Promise<Found[]> {
  const found: Found[] = []
  const pending = [root]
  const late: string[] = []
  const turn = createTurns()
  let seen = 0
  // The folders near the top first: what is deep below many others may be missed.
  for (let at = 0; at < pending.length + late.length && seen < MOST_FOLDERS; at++) {
    if (at === pending.length) pending.push(...late.splice(0))
    const others = turn()
    if (others !== undefined) await others
    const folder = pending[at]!
    seen++
    const entries = entriesOf(folder)
    // A repository without a work tree is one by what lies in it, and git obeys its configuration from within.
    if (at > 0 && BARE.every((name) => entries.some((entry) => entry.name === name))) {
      found.push({ path: folder, kind: "repository" })
      continue
    }
    for (const entry of entries) {
      const path = join(folder, entry.name)
      const kind = kindOf(entry)
      if (kind === "folder") (LATE.has(entry.name) ? late : pending).push(path)
      else if (kind === "packages") found.push(...packagesIn(path))
      else if (kind !== undefined) found.push({ path, kind })
    }
  }
  return found
}

/** What an entry of a folder is to be looked at as; nothing where it is of no concern. */
function kindOf(entry: Dirent): Found["kind"] | "packages" | "folder" | undefined {
  if (entry.name === ".git") {
    if (entry.isDirectory()) return "repository"
    return entry.isFile() ? "pointer" : undefined
  }
  if (RULES.has(entry.name)) return entry.isSymbolicLink() ? undefined : "rules"
  if (!entry.isDirectory()) return undefined
  if (entry.name === "node_modules") return "packages"
  return SKIPPED.has(entry.name) ? undefined : "folder"
}

/**
 * Packages that are repositories of their own, as those that are worked on in place: one look at each, since there are
 * many.
 */
function packagesIn(folder: string): Found[] {
  const names = folders(folder)
  const scoped = names.flatMap((name) =>
    name.startsWith("@") ? folders(join(folder, name)).map((own) => `${name}/${own}`) : [name],
  )
  return scoped.slice(0, MOST_PACKAGES).flatMap((name): Found[] => {
    const path = join(folder, name, ".git")
    const stat = lookAt(path)
    if (stat?.isDirectory() === true) return [{ path, kind: "repository" }]
    return stat?.isFile() === true ? [{ path, kind: "pointer" }] : []
  })
}

function folders(folder: string): string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
}

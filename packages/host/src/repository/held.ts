import { statSync, type Dirent, type Stats } from "node:fs"
import { basename, join } from "node:path"
import { entriesOf, lookAt } from "../look.ts"
import { createTurns } from "../turns.ts"
import { refused, type RepositoryLayout } from "./layout.ts"

/** What git opens in each folder of a working tree, links not followed. */
const READ_IN_FOLDERS = new Set([".gitignore", ".gitattributes"])
/** What it opens at the top of one beside these. */
const READ_AT_TOP = [".gitignore", ".gitattributes", ".gitmodules", ".mailmap"]
/** What it takes into memory as a whole; longer than this they are nobody's. */
const MOST_BYTES = 16 * 1024 * 1024
/** A git that has not ended by then may be waiting for what it opened. Looking before each one would cost more. */
const PATIENCE_MS = 300
const MOST_ENTRIES = 200_000

/**
 * Runs git so that what others put into a folder cannot hold it up: a pipe or a file of gigabytes in place of
 * `.gitignore` keeps it waiting, or takes all memory, for as long as its time limit allows. What lies in the known
 * places is looked at before; once git takes its time, every folder is.
 *
 * @param run starts git, and ends it with the signal
 * @throws ToolwrightError `REPOSITORY_REFUSED` that names what it would wait for
 */
export async function holdingNothing<T>(
  layout: RepositoryLayout,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (const path of atTop(layout)) refuse(findingAt(path))
  const over = new AbortController()
  const late = new AbortController()
  let found: string | undefined
  const timer = setTimeout(() => {
    void heldUpBy(layout, over.signal).then((finding) => {
      if (finding === undefined || over.signal.aborted) return
      found = finding
      late.abort()
    })
  }, PATIENCE_MS)
  try {
    const result = await run(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]))
    refuse(found)
    return result
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

function* atTop({ top, gitDir, commonDir }: RepositoryLayout): Generator<string> {
  for (const name of READ_AT_TOP) yield join(top, name)
  for (const folder of new Set([gitDir, commonDir])) {
    for (const name of ["HEAD", "shallow", "info/exclude", "info/attributes", "info/grafts", "info/sparse-checkout"])
      yield join(folder, name)
  }
}

function refuse(finding: string | undefined): void {
  if (finding !== undefined) throw refused(finding)
}

/** What is wrong with a file that git would open; nothing where it is an ordinary one, a link or not there. */
function findingAt(path: string): string | undefined {
  const listed = lookAt(path)
  if (listed === undefined || listed.isSymbolicLink() || listed.isDirectory()) return undefined
  if (!listed.isFile()) return `${path} is no regular file`
  return listed.size > MOST_BYTES ? `${path} is larger than ${MOST_BYTES / 1024 / 1024} MB` : undefined
}

/**
 * What would keep git waiting, wherever in a working tree or its repository it lies. The folders near the top are
 * looked at first; what lies below too many others is left to git's time limit.
 */
export async function heldUpBy(layout: RepositoryLayout, over?: AbortSignal): Promise<string | undefined> {
  const pending = [...new Set([layout.top, layout.gitDir, layout.commonDir])].map((path) => ({
    path,
    // A repository of its own within the tree is read too: git asks where its HEAD stands.
    inside: path !== layout.top,
  }))
  const turn = createTurns()
  let seen = 0
  for (let at = 0; at < pending.length && seen < MOST_ENTRIES; at++) {
    const others = turn()
    if (others !== undefined) await others
    if (over?.aborted === true) return undefined
    const { path, inside } = pending[at]!
    const entries = entriesOf(path)
    seen += entries.length
    for (const entry of entries) {
      const full = join(path, entry.name)
      const own = inside || entry.name === ".git"
      if (entry.isDirectory() && !(inside && entry.name === "objects")) pending.push({ path: full, inside: own })
      const finding = isRead(entry, inside) ? findingIn(full, entry) : undefined
      if (finding !== undefined) return finding
    }
  }
  return undefined
}

function isRead(entry: Dirent, inside: boolean): boolean {
  if (!inside) return READ_IN_FOLDERS.has(entry.name)
  return entry.isSymbolicLink() || !(entry.isFile() || entry.isDirectory()) || entry.name === "HEAD"
}

function findingIn(path: string, entry: Dirent): string | undefined {
  if (!entry.isSymbolicLink()) return findingAt(path)
  if (READ_IN_FOLDERS.has(basename(path))) return undefined
  const target = behind(path)
  const ordinary = target === undefined || target.isFile() || target.isDirectory()
  return ordinary ? undefined : `${path} is a link to what is no regular file`
}

/** What a link leads to. */
function behind(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { entriesOf, isFolder, lookAt } from "../look.ts"
import { plainFileOrNothing } from "../repository/plain-file.ts"
import { refsOf } from "../repository/state.ts"
import { createTurns } from "../turns.ts"
import type { GitAnswers } from "./git-answers.ts"

/** What a repository was beside its objects. */
export interface RepositoryNote {
  readonly refs: ReadonlyMap<string, string>
  /** Its files by their path, hooks and objects excepted. */
  readonly files: ReadonlyMap<string, { readonly bytes: Buffer; readonly mode: number }>
}

/** Kept elsewhere, fixed, or a repository of its own. */
const SKIPPED = new Set(["objects", "hooks", "modules", "config", "lfs"])
const MOST_FILES = 5000
const MOST_BYTES = 64 * 1024 * 1024
const MOST_FILE_BYTES = 16 * 1024 * 1024
/** Without these git finds no repository, or another one than there was. */
const ESSENTIAL = ["HEAD", "index", "packed-refs", "logs/HEAD", "reftable/tables.list"]
const MOST_ASKED = 20

/** Notes a repository's refs, index and logs before a command that may write to them. */
export async function noteRepository(gitDir: string): Promise<RepositoryNote> {
  const files = new Map<string, { bytes: Buffer; mode: number }>()
  let bytes = 0
  // What lies near the top first, for there the bounds shall not be reached.
  const pending = [""]
  const turn = createTurns()
  for (let at = 0; at < pending.length && files.size < MOST_FILES && bytes < MOST_BYTES; at++) {
    const others = turn()
    if (others !== undefined) await others
    const folder = pending[at]!
    for (const entry of entriesOf(join(gitDir, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`
      if (folder === "" && (SKIPPED.has(entry.name) || entry.name.startsWith("toolwright-objects-"))) continue
      if (entry.isDirectory()) pending.push(path)
      if (!entry.isFile() || entry.name.endsWith(".lock")) continue
      const content = plainFileOrNothing(join(gitDir, path), MOST_FILE_BYTES)
      if (content === undefined) continue
      bytes += content.length
      files.set(path, { bytes: content, mode: modeOf(join(gitDir, path)) })
    }
  }
  return { refs: refsOf({ gitDir, commonDir: gitDir }), files }
}

/**
 * Puts back what a command took from a repository: all that is missing, where it is no whole repository any more; and
 * branches that point to nothing. What was removed or set back in the ordinary way is told, with the commit.
 *
 * @returns sentences that say what was done, and what is to be known
 */
export async function settleRepository(gitDir: string, note: RepositoryNote, answers: GitAnswers): Promise<string[]> {
  if (note.refs.size === 0 && !note.files.has("HEAD")) return []
  if (isBroken(gitDir, note)) {
    const names = restore(gitDir, note)
    const shown = names.length > 5 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ")
    return [`the command destroyed parts of the repository ${gitDir}, which were put back: ${shown}`]
  }
  return tellMoved(gitDir, note, answers)
}

function isBroken(gitDir: string, { refs, files }: RepositoryNote): boolean {
  const lost = ESSENTIAL.some((path) => (files.get(path)?.bytes.length ?? 0) > 0 && sizeOf(join(gitDir, path)) === 0)
  if (lost || !isFolder(join(gitDir, "refs"))) return true
  const head = plainFileOrNothing(join(gitDir, "HEAD"), 4096)
  if (!/^(?:ref: refs\/\S+|[0-9a-f]{40,64})\s*$/u.test(head?.toString("latin1") ?? "")) return true
  return refs.size > 0 && refsOf({ gitDir, commonDir: gitDir }).size === 0
}

function restore(gitDir: string, { refs, files }: RepositoryNote): string[] {
  const now = refsOf({ gitDir, commonDir: gitDir })
  const isLost = (name: string): boolean => !isCommit(now.get(name))
  const restored: string[] = []
  // An empty folder in a repository whose refs are packed; without it git finds none.
  folderFor(gitDir, "refs/heads/x")
  for (const name of refs.keys()) {
    folderFor(gitDir, name)
    if (isLost(name)) rmSync(join(gitDir, name), { recursive: true, force: true })
  }
  for (const [path, { bytes, mode }] of files) {
    const isRef = path === "HEAD" || path.startsWith("refs/")
    const refLost = isRef ? path === "HEAD" || isLost(path) : path === "packed-refs" && [...refs.keys()].some(isLost)
    if (bytes.length === 0 || (sizeOf(join(gitDir, path)) > 0 && !refLost)) continue
    writeBack(gitDir, path, bytes, mode)
    restored.push(path)
  }
  return restored.sort()
}

const isCommit = (value: string | undefined): boolean => /^(?:ref: \S+|[0-9a-f]{40,64})$/u.test(value ?? "")

/** Branches, tags and stashes: what a person would miss. */
const KEPT_REFS = /^refs\/(?:heads|tags)\/|^refs\/stash$/u

async function tellMoved(gitDir: string, { refs, files }: RepositoryNote, answers: GitAnswers): Promise<string[]> {
  const now = refsOf({ gitDir, commonDir: gitDir })
  const moved = [...refs].filter(([name, value]) => KEPT_REFS.test(name) && now.get(name) !== value)
  const notes: string[] = []
  const ask = (args: readonly string[]) => (basename(gitDir) === ".git" ? answers(dirname(gitDir), args) : undefined)
  for (const [name, value] of moved.slice(0, MOST_ASKED)) {
    const later = now.get(name)
    const there = later === undefined || (isCommit(later) && (await ask(["cat-file", "-e", later]))?.exitCode !== 1)
    if (!there) {
      writeBack(gitDir, name, files.get(name)?.bytes ?? Buffer.from(`${value}\n`), 0o644)
      notes.push(`${name} pointed to nothing after the command; it stands at ${value.slice(0, 12)} again`)
      continue
    }
    const left = await ask(["rev-list", "--max-count=1", value, "--not", "--all"])
    if (left !== undefined && left.exitCode === 0 && left.text.trim() === "") continue
    const short = name.replace(/^refs\/(?:heads\/|tags\/)?/u, "")
    const what = later === undefined ? "removed" : "set back"
    notes.push(
      `the command ${what} ${short}: it stood at ${value}, and nothing leads there now ('git branch kept ` +
        `${value.slice(0, 12)}' keeps it)`,
    )
  }
  return notes
}

/** Writes a file anew, below real folders alone: what lies in their place goes. */
function writeBack(gitDir: string, path: string, bytes: Buffer, mode: number): void {
  folderFor(gitDir, path)
  rmSync(join(gitDir, path), { recursive: true, force: true })
  writeFileSync(join(gitDir, path), bytes, { mode, flag: "wx" })
}

function folderFor(gitDir: string, path: string): void {
  let folder = gitDir
  for (const name of path.split("/").slice(0, -1)) {
    folder = join(folder, name)
    if (isFolder(folder)) continue
    rmSync(folder, { force: true })
    mkdirSync(folder)
  }
}

/** Of a regular file; 0 where something else lies there, and where nothing does. */
function sizeOf(path: string): number {
  const stat = lookAt(path)
  return stat?.isFile() === true ? stat.size : 0
}

function modeOf(path: string): number {
  return (lookAt(path)?.mode ?? 0o644) & 0o777
}

import { randomBytes } from "node:crypto"
import { mkdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs"
import { rm } from "node:fs/promises"
import { basename, join, relative, resolve } from "node:path"
import { entriesOf, isFolder, isThere, lookAt } from "../look.ts"
import { isAlive } from "../process-life.ts"
import { readPlainFile } from "../repository/plain-file.ts"
import { createTurns } from "../turns.ts"
import { noteRepository, settleRepository } from "./kept-refs.ts"
import type { GitAnswers } from "./git-answers.ts"

/** What a sandbox shows instead of repositories' objects, and what is to be done once nothing lives in it any more. */
export interface KeptHistory {
  readonly mounts: readonly Mount[]
  /** Repositories that cannot be kept whole in this way: they stay read-only. */
  readonly fixed: readonly string[]
  /**
   * Takes over what commands stored, and puts back what they destroyed.
   * @param made repositories that came to be meanwhile
   * @returns sentences that say what was done; none where there was nothing to do
   */
  settle(made: readonly string[]): Promise<string[]>
}

/** A folder that a sandbox shows in another place. */
export interface Mount {
  readonly source: string
  readonly path: string
  readonly writable: boolean
}

interface Objects {
  /** The repository's folder with its objects. */
  readonly real: string
  /** Where the sandbox has it to read. */
  readonly shown: string
  /** What takes new objects meanwhile. */
  readonly incoming: string
}

const INCOMING = "toolwright-objects-"
const SHOWN = "/run/toolwright/objects-"
const LIST_BYTES = 64 * 1024
const MOST_KEPT = 32
const MOST_MODULES = 64

/**
 * Keeps the history of repositories whole while a command may write to them. Their objects are read-only in the
 * sandbox; new ones go to a folder of their own that borrows from the old (gitrepository-layout(5), `info/alternates`),
 * and are taken over afterwards. Meanwhile the repository borrows from that folder in turn, so that nothing is missing
 * where this process is killed.
 *
 * @param repositories folders of repositories that commands may write to
 * @param closed those whose objects are hidden: git cannot work there, and nobody has anything to write
 * @param answers asks git about the repository of a folder
 */
export async function keepHistory(
  repositories: readonly string[],
  closed: readonly string[],
  answers: GitAnswers,
): Promise<KeptHistory> {
  const all = repositories.flatMap(withModules).filter((path) => !closed.includes(path))
  const objects: Objects[] = []
  const fixed = all.slice(MOST_KEPT)
  for (const path of all.slice(0, MOST_KEPT)) {
    const one = await openObjects(path, `${SHOWN}${objects.length}`)
    if (one === undefined) fixed.push(path)
    else objects.push(one)
  }
  const kept = objects.map(({ real }) => resolve(real, ".."))
  const notes = await Promise.all(kept.map(noteRepository))
  return {
    fixed,
    mounts: objects.flatMap(({ real, shown, incoming }) => [
      { source: real, path: shown, writable: false },
      // Mounted upon itself it cannot be exchanged for a link.
      { source: incoming, path: incoming, writable: true },
      { source: incoming, path: real, writable: true },
    ]),
    async settle(made) {
      for (const one of objects) await takeOver(one)
      const said: string[] = []
      for (const [at, note] of notes.entries()) said.push(...(await settleRepository(kept[at]!, note, answers)))
      for (const path of made) borrowFromReal(path, objects)
      return said
    },
  }
}

/** A repository's folder, and those of its submodules. */
export function withModules(path: string): string[] {
  const found = [path]
  const pending = [join(path, "modules")]
  for (let at = pending.pop(); at !== undefined && found.length < MOST_MODULES; at = pending.pop()) {
    for (const name of foldersIn(at)) {
      const below = join(at, name)
      if (isFolder(join(below, "objects")) && found.push(below)) pending.push(join(below, "modules"))
      else pending.push(below)
    }
  }
  return found
}

/** @returns nothing where the objects do not lie in plain folders of the repository */
async function openObjects(gitDir: string, shown: string): Promise<Objects | undefined> {
  const real = join(gitDir, "objects")
  if (!isFolder(real)) return undefined
  for (const name of ["info", "pack"]) {
    makeFolder(join(real, name))
    if (!isFolder(join(real, name))) return undefined
  }
  try {
    await takeOverLeft(gitDir, real)
    const borrowed = borrowedBy(real)
    const incoming = join(gitDir, `${INCOMING}${process.pid}-${randomBytes(4).toString("hex")}`)
    mkdirSync(join(incoming, "info"), { recursive: true })
    mkdirSync(join(incoming, "pack"))
    const others = borrowed.filter((path) => !basename(path).startsWith(INCOMING)).map((path) => resolve(real, path))
    writeFileSync(join(incoming, "info/alternates"), `${[shown, ...others].join("\n")}\n`)
    borrow(real, [...borrowed, incoming])
    return { real, shown, incoming }
  } catch {
    return undefined
  }
}

/** What a process that was killed has left. */
async function takeOverLeft(gitDir: string, real: string): Promise<void> {
  for (const name of foldersIn(gitDir)) {
    const pid = new RegExp(`^${INCOMING}(\\d+)-`, "u").exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    await takeOver({ real, shown: "", incoming: join(gitDir, name) })
  }
}

function borrowedBy(objects: string): string[] {
  const text = readPlainFile(join(objects, "info/alternates"), LIST_BYTES)?.toString("utf8") ?? ""
  return text.split("\n").filter((line) => line !== "")
}

function borrow(objects: string, from: readonly string[]): void {
  const file = join(objects, "info/alternates")
  if (from.length === 0) return rmSync(file, { force: true })
  const temporary = `${file}.${randomBytes(4).toString("hex")}`
  writeFileSync(temporary, `${from.join("\n")}\n`, { flag: "wx" })
  renameSync(temporary, file)
}

const LOOSE = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/u
/** A pack counts once its index is there, so that comes last. */
const PACK = /^pack-[0-9a-f]{40,64}\.(?:pack|rev|mtimes|bitmap|promisor|keep|idx)$/u

async function takeOver({ real, incoming }: Objects): Promise<void> {
  for (const name of foldersIn(incoming))
    if (/^[0-9a-f]{2}$/u.test(name)) await moveFiles(join(incoming, name), join(real, name), LOOSE)
  await moveFiles(join(incoming, "pack"), join(real, "pack"), PACK)
  changeBorrowed(real, (list) => list.filter((path) => path !== incoming))
  // Commands may have put anything there, and any number of it.
  await rm(incoming, { recursive: true, force: true })
}

/** Where the list can be neither read nor written it stays as it is: git passes over what is not there. */
function changeBorrowed(objects: string, change: (list: readonly string[]) => string[]): void {
  try {
    const before = borrowedBy(objects)
    const after = change(before)
    if (after.join("\n") !== before.join("\n")) borrow(objects, after)
  } catch {
    // As it is, then.
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Objects lie in it.
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch {
    // It is there, or something else is: whoever needs it looks.
  }
}

/** Moves regular files of a folder to where nothing of their name lies yet. */
async function moveFiles(from: string, to: string, names: RegExp): Promise<void> {
  if (!isFolder(from)) return
  makeFolder(to)
  if (!isFolder(to)) return
  const found = entriesOf(from)
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map(({ name }) => name)
  const inOrder = found.sort((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")))
  const turn = createTurns()
  for (const name of inOrder) {
    const others = turn()
    if (others !== undefined) await others
    if (lookAt(join(from, name))?.isFile() === true && !isThere(join(to, name)))
      renameSync(join(from, name), join(to, name))
  }
  removeIfEmpty(to)
}

/** A clone made inside borrows from where its source's objects lay there; outside they lie elsewhere. */
function borrowFromReal(gitDir: string, kept: readonly Objects[]): void {
  const objects = join(gitDir, "objects")
  if (!isFolder(objects) || !isFolder(join(objects, "info"))) return
  const realOf = (path: string) => kept.find(({ shown, incoming }) => path === shown || path === incoming)?.real ?? path
  changeBorrowed(objects, (list) => [...new Set(list.map(realOf))].filter((path) => relative(objects, path) !== ""))
}

function foldersIn(folder: string): string[] {
  return entriesOf(folder)
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
}

import { randomBytes } from "node:crypto"
import { lstat, mkdir, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises"
import { basename, join, relative, resolve } from "node:path"
import { isAlive } from "../process-life.ts"
import { readPlainFile } from "../repository/plain-file.ts"
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
 * @param answers asks git about the repository of a folder
 */
export async function keepHistory(repositories: readonly string[], answers: GitAnswers): Promise<KeptHistory> {
  const all = (await Promise.all(repositories.map((path) => withModules(path)))).flat()
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
      for (const path of made) await borrowFromReal(path, objects)
      return said
    },
  }
}

/** A repository's folder, and those of its submodules. */
async function withModules(path: string): Promise<string[]> {
  const found = [path]
  const pending = [join(path, "modules")]
  for (let at = pending.pop(); at !== undefined && found.length < MOST_MODULES; at = pending.pop()) {
    for (const name of await foldersIn(at)) {
      const below = join(at, name)
      if ((await isFolder(join(below, "objects"))) && found.push(below)) pending.push(join(below, "modules"))
      else pending.push(below)
    }
  }
  return found
}

/** @returns nothing where the objects do not lie in plain folders of the repository */
async function openObjects(gitDir: string, shown: string): Promise<Objects | undefined> {
  const real = join(gitDir, "objects")
  if (!(await isFolder(real))) return undefined
  for (const name of ["info", "pack"]) {
    await mkdir(join(real, name)).catch(() => {})
    if (!(await isFolder(join(real, name)))) return undefined
  }
  try {
    await takeOverLeft(gitDir, real)
    const borrowed = await borrowedBy(real)
    const incoming = join(gitDir, `${INCOMING}${process.pid}-${randomBytes(4).toString("hex")}`)
    await mkdir(join(incoming, "info"), { recursive: true })
    await mkdir(join(incoming, "pack"))
    const others = borrowed.filter((path) => !basename(path).startsWith(INCOMING)).map((path) => resolve(real, path))
    await writeFile(join(incoming, "info/alternates"), `${[shown, ...others].join("\n")}\n`)
    await borrow(real, [...borrowed, incoming])
    return { real, shown, incoming }
  } catch {
    return undefined
  }
}

/** What a process that was killed has left. */
async function takeOverLeft(gitDir: string, real: string): Promise<void> {
  for (const name of await foldersIn(gitDir)) {
    const pid = new RegExp(`^${INCOMING}(\\d+)-`, "u").exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    await takeOver({ real, shown: "", incoming: join(gitDir, name) })
  }
}

async function borrowedBy(objects: string): Promise<string[]> {
  const text = (await readPlainFile(join(objects, "info/alternates"), LIST_BYTES))?.toString("utf8") ?? ""
  return text.split("\n").filter((line) => line !== "")
}

async function borrow(objects: string, from: readonly string[]): Promise<void> {
  const file = join(objects, "info/alternates")
  if (from.length === 0) return rm(file, { force: true })
  const temporary = `${file}.${randomBytes(4).toString("hex")}`
  await writeFile(temporary, `${from.join("\n")}\n`, { flag: "wx" })
  await rename(temporary, file)
}

const LOOSE = /^[0-9a-f]{38}(?:[0-9a-f]{24})?$/u
/** A pack counts once its index is there, so that comes last. */
const PACK = /^pack-[0-9a-f]{40,64}\.(?:pack|rev|mtimes|bitmap|promisor|keep|idx)$/u

async function takeOver({ real, incoming }: Objects): Promise<void> {
  for (const name of await foldersIn(incoming))
    if (/^[0-9a-f]{2}$/u.test(name)) await moveFiles(join(incoming, name), join(real, name), LOOSE)
  await moveFiles(join(incoming, "pack"), join(real, "pack"), PACK)
  await borrow(
    real,
    (await borrowedBy(real)).filter((path) => path !== incoming),
  ).catch(() => {})
  await rm(incoming, { recursive: true, force: true })
}

/** Moves regular files of a folder to where nothing of their name lies yet. */
async function moveFiles(from: string, to: string, names: RegExp): Promise<void> {
  if (!(await isFolder(from))) return
  await mkdir(to).catch(() => {})
  if (!(await isFolder(to))) return
  const found = (await readdir(from)).filter((name) => names.test(name))
  const inOrder = found.sort((a, b) => Number(a.endsWith(".idx")) - Number(b.endsWith(".idx")))
  for (const name of inOrder) {
    const stat = await lstat(join(from, name)).catch(() => undefined)
    const there = await lstat(join(to, name)).catch(() => undefined)
    if (stat?.isFile() === true && there === undefined) await rename(join(from, name), join(to, name))
  }
  await rmdir(to).catch(() => {})
}

/** A clone made inside borrows from where its source's objects lay there; outside they lie elsewhere. */
async function borrowFromReal(gitDir: string, kept: readonly Objects[]): Promise<void> {
  const objects = join(gitDir, "objects")
  if (!(await isFolder(objects)) || !(await isFolder(join(objects, "info")))) return
  const borrowed = await borrowedBy(objects).catch(() => [])
  const realOf = (path: string) => kept.find(({ shown, incoming }) => path === shown || path === incoming)?.real ?? path
  const wanted = [...new Set(borrowed.map(realOf))].filter((path) => relative(objects, path) !== "")
  if (wanted.join("\n") !== borrowed.join("\n")) await borrow(objects, wanted).catch(() => {})
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isDirectory() === true
}

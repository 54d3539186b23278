import { createHash } from "node:crypto"
import { lstat, readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import type { HistoryState, WorkHistory } from "@toolwright/toolbox"
import type { ProcessHost } from "@toolwright/host/process"
import { openRepository } from "../../git/git.ts"
import { gitSequence } from "../../git/sequence.ts"
import { stateMark } from "../../git/work.ts"

/** Folders below the workspace's top that are looked at for repositories of their own. */
const MOST_FOLDERS = 200
const MOST_BYTES = 8 * 1024 * 1024
const never = new AbortController().signal

type Args = readonly string[]

/**
 * Runs git in the repository of a folder; undefined where there is none, or git refuses.
 *
 * @param next what is likely to be asked after it, which one that remembers answers asks in the same sandbox
 */
type RunGit = (folder: string, args: Args, next?: Args) => Promise<string | undefined>

/** Runs several commands in the repository of a folder until git refuses one. */
type RunsOfGit = (folder: string, commands: readonly Args[]) => Promise<(string | undefined)[]>

/**
 * The branches of the repositories at the workspace's top and one folder below. Keys are `folder:ref`; `folder:HEAD` is
 * what `HEAD` says, and `folder:@` the commit that it comes to.
 */
export function createHistory(host: ProcessHost, answers: GitAnswers = new Map()): WorkHistory {
  const runs = gitIn(host)
  const run = oneOf(runs)
  const ofCommits = remembering(runs, answers)
  return {
    async state() {
      const folders = await repositories(host.root)
      if (folders.length === 0) return undefined
      return new Map((await Promise.all(folders.map((folder) => stateOf(run, host.root, folder)))).flat())
    },
    async added(before, after) {
      return (await Promise.all(foldersOf(after).map((folder) => addedIn(ofCommits, folder, before, after)))).flat()
    },
    async recorded(before, after) {
      return (await Promise.all(foldersOf(after).map((folder) => recordedIn(ofCommits, folder, before, after)))).flat()
    },
    async undo(before, after) {
      const done = await Promise.all(foldersOf(after).map((folder) => undoIn(run, folder, before, after)))
      return done.every(Boolean)
    },
    async unrecorded(files) {
      if (files?.length === 0) return []
      const folders = await repositories(host.root)
      const found = await Promise.all(folders.map(async (folder) => statusPaths(folder, await run(folder, STATUS))))
      const all = found.flat()
      return files === undefined ? ofTheWork(host, all) : among(host, all, files)
    },
    async ignored(files) {
      if (files.length === 0) return []
      const folders = await repositories(host.root)
      const list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"]
      const found = await Promise.all(
        folders.map(async (folder) =>
          paths(folder, await run(folder, [...list, "--", ...inside(host, folder, files)])),
        ),
      )
      return among(host, found.flat(), files)
    },
  }
}

/** Without what lay here untracked and untouched before the work began: a commit that names no files leaves it out. */
async function ofTheWork({ begun, root }: ProcessHost, all: readonly string[]): Promise<string[]> {
  const { untracked } = begun
  const isOfIt = async (file: string): Promise<boolean> =>
    untracked?.has(file) !== true || untracked.get(file) !== (await stateMark(join(root, file)))
  const kept = await Promise.all(all.map(async (file) => ((await isOfIt(file)) ? [file] : [])))
  return kept.flat()
}

function among(host: ProcessHost, all: readonly string[], files: readonly string[]): string[] {
  const asked = new Set(files.map((file) => fromTop(host, file)))
  return all.filter((file) => asked.has(file))
}

const fromTop = (host: ProcessHost, file: string): string => (file.startsWith("/") ? relative(host.root, file) : file)

/** Of these files those that lie in a folder, relative to it; where none does, something that no list has. */
function inside(host: ProcessHost, folder: string, files: readonly string[]): string[] {
  const all = files.map((file) => relative(folder, fromTop(host, file))).filter((file) => !file.startsWith(".."))
  return all.length === 0 ? [".git"] : all
}

/** The files that no commit and no rule knows, with a mark of each one's state. */
export async function untrackedFiles(host: ProcessHost): Promise<ReadonlyMap<string, string>> {
  const run = oneOf(gitIn(host))
  const folders = await repositories(host.root)
  const list = ["ls-files", "-z", "--others", "--exclude-standard"]
  const found = await Promise.all(folders.map(async (folder) => paths(folder, await run(folder, list))))
  const all = found.flat().slice(0, MOST_UNTRACKED)
  return new Map(await Promise.all(all.map(async (file) => [file, await stateMark(join(host.root, file))] as const)))
}

const MOST_UNTRACKED = 20_000
const STATUS = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all"] as const

function gitIn(host: ProcessHost): RunsOfGit {
  return async (folder, commands) => {
    try {
      await using work = await openRepository(host, folder === "" ? "." : folder, never)
      const asked = commands.map((args) => ({ args }))
      const outcomes = await gitSequence(work.repository, work.settings, asked, work.run)
      return outcomes.map(({ exitCode, stdout }) => (exitCode === 0 ? stdout.text : undefined))
    } catch {
      return []
    }
  }
}

const oneOf =
  (runs: RunsOfGit): RunGit =>
  async (folder, args) =>
    (await runs(folder, [args]))[0]

/** What git said of commits that are named by their hashes, by folder and arguments. */
export type GitAnswers = Map<string, string>

const MOST_ANSWERS = 50

/**
 * Asks once about commits that are named by their hashes: what they hold stays as it is, and a run asks after each
 * round in which it could have ended.
 */
function remembering(runs: RunsOfGit, answers: GitAnswers): RunGit {
  return async (folder, args, next) => {
    const known = answers.get(questionOf(folder, args))
    if (known !== undefined) return known
    const asked = next === undefined || answers.has(questionOf(folder, next)) ? [args] : [args, next]
    const said = await runs(folder, asked)
    // What the next one ran into is not told of this one.
    if (said[0] === undefined && asked.length > 1) [said[0]] = await runs(folder, [args])
    if (answers.size >= MOST_ANSWERS) answers.clear()
    for (const [at, one] of asked.entries()) {
      const answer = said[at]
      if (answer !== undefined) answers.set(questionOf(folder, one), answer)
    }
    return said[0]
  }
}

const questionOf = (folder: string, args: Args): string => JSON.stringify([folder, ...args])

async function stateOf(run: RunGit, root: string, folder: string): Promise<[string, string][]> {
  const read = (await readRefs(join(root, folder, ".git"))) ?? (await askForRefs(run, folder))
  const head = read.get("HEAD") ?? ""
  const target = head.startsWith("ref: ") ? (read.get(head.slice(5)) ?? "") : head
  return [...read, ["@", target] as const].map(([ref, value]) => [`${folder}:${ref}`, value])
}

/** For what no file can be read of: linked work trees, other ways of keeping refs. */
async function askForRefs(run: RunGit, folder: string): Promise<Map<string, string>> {
  const refs = new Map<string, string>()
  const listed = (await run(folder, ["for-each-ref", "--format=%(refname) %(objectname)"])) ?? ""
  for (const line of listed.split("\n")) {
    const [ref = "", value = ""] = line.split(" ")
    if (ref !== "") refs.set(ref, value)
  }
  const branch = (await run(folder, ["symbolic-ref", "--quiet", "HEAD"]))?.trim()
  const head = branch === undefined ? (await run(folder, ["rev-parse", "HEAD"]))?.trim() : `ref: ${branch}`
  if (head !== undefined) refs.set("HEAD", head)
  return refs
}

async function addedIn(run: RunGit, folder: string, before: HistoryState, after: HistoryState): Promise<string[]> {
  const tips = new Set(branchesOf(folder, after).map(([, value]) => value))
  const known = [...valuesOf(folder, before)]
  const moved = [...tips].filter((tip) => !known.includes(tip))
  if (moved.length === 0) return []
  // Whoever learns of new commits asks for their files.
  const [from, to] = currentOf(folder, before, after)
  const next = to === "" || from === to ? undefined : filesBetween(from, to)
  const listed = await run(folder, ["rev-list", "--max-count=1000", ...moved, "--not", ...known], next)
  return listed === undefined ? moved : listed.split("\n").filter((line) => line !== "")
}

async function recordedIn(run: RunGit, folder: string, before: HistoryState, after: HistoryState): Promise<string[]> {
  const [from, to] = currentOf(folder, before, after)
  if (to === "" || from === to || (await addedIn(run, folder, before, after)).length === 0) return []
  return paths(folder, await run(folder, filesBetween(from, to)))
}

/** The commits that a repository's `HEAD` came to, then and now; empty where it came to none. */
const currentOf = (folder: string, before: HistoryState, after: HistoryState): [string, string] => [
  before.get(`${folder}:@`) ?? "",
  after.get(`${folder}:@`) ?? "",
]

const filesBetween = (from: string, to: string): Args =>
  from === ""
    ? ["ls-tree", "-r", "--name-only", "-z", "--full-tree", to]
    : ["diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", from, to, "--"]

async function undoIn(run: RunGit, folder: string, before: HistoryState, after: HistoryState): Promise<boolean> {
  const known = valuesOf(folder, before)
  const start = before.get(`${folder}:@`) ?? ""
  let undone = true
  for (const [ref, value] of branchesOf(folder, after)) {
    if (known.has(value)) continue
    const earlier = before.get(`${folder}:${ref}`) ?? start
    const args = ref === "@" ? ["update-ref", "--no-deref", "HEAD"] : ["update-ref", ref]
    const back = earlier === "" ? ["update-ref", "-d", ref === "@" ? "HEAD" : ref] : [...args, earlier]
    // What no git wrote may hold no commit at all; then only where it shall stand is said.
    const done = (await run(folder, [...back, value])) ?? (await run(folder, back))
    undone &&= done !== undefined
  }
  return undone
}

/** The marks of what stands in files: their bytes' hashes. */
export async function fingerprintsOf(
  host: ProcessHost,
  files: readonly string[],
): Promise<ReadonlyMap<string, string | undefined>> {
  const marks = await Promise.all(
    files.map(async (file) => {
      try {
        const { bytes } = await host.workspace.read(file)
        return [file, createHash("sha256").update(bytes).digest("hex")] as const
      } catch {
        return [file, undefined] as const
      }
    }),
  )
  return new Map(marks)
}

async function repositories(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => [])
  const below = entries
    .filter((entry) => entry.isDirectory() && entry.name !== ".git" && entry.name !== "node_modules")
    .slice(0, MOST_FOLDERS)
    .map(({ name }) => name)
  const found = await Promise.all(
    ["", ...below].map(async (folder) => {
      const stat = await lstat(join(root, folder, ".git")).catch(() => undefined)
      return stat !== undefined && !stat.isSymbolicLink() ? [folder] : []
    }),
  )
  return found.flat()
}

/** `HEAD` and every ref, as the files say; undefined where the refs are kept in another way. */
async function readRefs(folder: string): Promise<Map<string, string> | undefined> {
  const head = await plainText(join(folder, "HEAD"))
  if (head === undefined || (await lstat(join(folder, "reftable")).catch(() => undefined)) !== undefined)
    return undefined
  const refs = new Map([["HEAD", head.trim()]])
  const packed = (await plainText(join(folder, "packed-refs"))) ?? ""
  for (const match of packed.matchAll(/^([0-9a-f]{40,64}) (refs\/\S+)$/gmu)) refs.set(match[2]!, match[1]!)
  const entries = await readdir(join(folder, "refs"), { withFileTypes: true, recursive: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isFile() || entry.name.endsWith(".lock")) continue
    const file = join(entry.parentPath, entry.name)
    const value = (await plainText(file))?.trim()
    if (value !== undefined) refs.set(relative(folder, file), value)
  }
  return refs
}

/** The text of a small regular file; whatever else lies there is not read. */
async function plainText(file: string): Promise<string | undefined> {
  const stat = await lstat(file).catch(() => undefined)
  if (stat === undefined || !stat.isFile() || stat.size > MOST_BYTES) return undefined
  return readFile(file, "utf8").catch(() => undefined)
}

const foldersOf = (state: HistoryState): string[] => [
  ...new Set([...state.keys()].map((key) => key.slice(0, key.indexOf(":")))),
]

/** The branches of a repository, and where `HEAD` stands when it is on none. */
function branchesOf(folder: string, state: HistoryState): [string, string][] {
  const head = state.get(`${folder}:HEAD`) ?? ""
  const heads = [...state]
    .filter(([key]) => key.startsWith(`${folder}:refs/heads/`))
    .map(([key, value]): [string, string] => [key.slice(folder.length + 1), value])
  return head === "" || head.startsWith("ref: ") ? heads : [...heads, ["@", head]]
}

/** The commits that anything in a repository pointed to. */
function valuesOf(folder: string, state: HistoryState): Set<string> {
  return new Set(
    [...state]
      .filter(([key, value]) => key.startsWith(`${folder}:`) && /^[0-9a-f]{40,64}$/u.test(value))
      .map(([, value]) => value),
  )
}

const inFolder = (folder: string, path: string): string => (folder === "" ? path : `${folder}/${path}`)

function paths(folder: string, listed: string | undefined): string[] {
  return (listed ?? "").split("\0").flatMap((path) => (path === "" ? [] : [inFolder(folder, path)]))
}

function statusPaths(folder: string, listed: string | undefined): string[] {
  return (listed ?? "").split("\0").flatMap((line) => (line.length < 4 ? [] : [inFolder(folder, line.slice(3))]))
}

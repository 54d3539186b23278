import { join, relative } from "node:path"
import type { PathPolicy } from "../paths/policy.ts"
import { heldUpBy } from "../repository/held.ts"
import { createTurns } from "../turns.ts"
import { askGit, type GitAnswer } from "./git-answers.ts"
import type { ProcessHost } from "./host.ts"
import { CANNOT } from "./in-turn.ts"
import { keptRepositories, type KeptRepository } from "./kept-repositories.ts"

/** What repositories of the workspace keep of files that the path rules keep from tools. */
export interface DeniedHistory {
  /** The folders with their objects: who can read these can read every version of every file. */
  readonly objects: readonly string[]
  /** The folders of these repositories. */
  readonly repositories: readonly string[]
  /** Some of the files, relative to the workspace's first root; none where git could not say which there are. */
  readonly files: readonly string[]
  /** Whether one of them could not be looked through in time. */
  readonly unknown: boolean
}

/** What one repository holds. */
interface Finding {
  readonly files: readonly string[]
  readonly hidden: boolean
  readonly unknown: boolean
}

const NOTHING: Finding = { files: [], hidden: false, unknown: false }
/** What cannot be looked through for another reason than its length is nobody's to read. */
const REFUSED: Finding = { files: [], hidden: true, unknown: false }
const SHOWN = 3
const MOST_REMEMBERED = 256
const MOST_ASKED = 64
const MOST_COMMITS = 1000
const MOST_TREES = 200
const MOST_INDEXES = 32

const remembered = new WeakMap<PathPolicy, Map<string, Finding>>()

/**
 * Looks for denied files in what the workspace's repositories hold: the index of each working tree, and everything that
 * a ref, a log of one or a file such as FETCH_HEAD leads to. A file that cannot be opened can be had from there by any
 * command (`git show HEAD:.env`). Each is looked through once for each of its states. The objects of one that git
 * cannot read are hidden, as are those of too many.
 *
 * @param found the folders of all repositories in the workspace, and the files that point to one
 */
export async function deniedHistory(host: ProcessHost, found: Iterable<string>): Promise<DeniedHistory | undefined> {
  const kept = keptRepositories(host, found)
  const findings: Finding[] = []
  for (const [at, one] of kept.entries()) findings.push(at < MOST_ASKED ? await findingOf(host, one) : REFUSED)
  const hidden = kept.filter((_, at) => findings[at]!.hidden)
  const unknown = findings.some((finding) => finding.unknown)
  if (hidden.length === 0 && !unknown) return undefined
  return {
    objects: [...new Set(hidden.flatMap(({ objects }) => objects))],
    repositories: hidden.map(({ commonDir }) => commonDir),
    files: findings.flatMap(({ files }) => files).slice(0, SHOWN),
    unknown,
  }
}

async function findingOf(host: ProcessHost, one: KeptRepository): Promise<Finding> {
  if (one.layout === undefined) return REFUSED
  const { policy } = host.workspace
  const known = remembered.get(policy) ?? new Map<string, Finding>()
  remembered.set(policy, known)
  const key = one.mark()
  const finding = known.get(key) ?? (await look(host, one).catch(() => REFUSED))
  if (known.size >= MOST_REMEMBERED) known.clear()
  known.set(key, finding)
  return finding
}

async function look(host: ProcessHost, one: KeptRepository): Promise<Finding> {
  const layout = one.layout!
  const commits = one.commits()
  const indexes = one.indexes()
  if (commits.length > MOST_COMMITS || indexes.length > MOST_INDEXES) return REFUSED
  const answer = await askGit(
    host,
    layout,
    tipsOf(commits),
    pathsOf(commits),
    ...indexes.map((gitDir) => ["--git-dir", gitDir, "ls-files", "-z"]),
  )
  // Of the tips alone a line is told, and no NUL.
  const end = answer.text.indexOf("\0")
  const tips = end === -1 ? answer.text : answer.text.slice(0, end)
  const first = await findingIn(host, one, answer, end + 1)
  // A tag may lead to a tree that no commit has.
  const trees = [...new Set(Array.from(tips.matchAll(/^([0-9a-f]{40,64}) $/gmu), ([, id]) => id!))]
  if (first !== NOTHING || trees.length === 0) return first
  if (trees.length > MOST_TREES) return REFUSED
  const listed = trees.map((id) => ["ls-tree", "-r", "-z", "--name-only", "--full-tree", id])
  return findingIn(host, one, await askGit(host, layout, ...listed), 0)
}

/** Every tip: a commit as its id, what is none with a blank after it. */
function tipsOf(commits: readonly string[]): string[] {
  const tips = ["--all", "--reflog", "--ignore-missing", ...commits, "--"]
  return ["rev-list", "--objects", "--no-walk", "--filter=tree:0", ...tips]
}

/**
 * Every path of every commit: where it came to be, and of a merge what none of its parents has. `rev-list --objects`
 * would tell a path up to its first line feed alone.
 */
function pathsOf(commits: readonly string[]): string[] {
  const shown = ["--format=", "--name-only", "-z", "--diff-filter=A", "--no-renames", "--root", "-c"]
  const plain = ["--no-mailmap", "--no-notes", "--no-decorate", "--no-show-signature", "--no-ext-diff"]
  return ["log", "--all", "--reflog", "--ignore-missing", ...shown, ...plain, ...commits, "--"]
}

/** @param from where in the answer the paths begin, each of which ends with a NUL */
async function findingIn(
  host: ProcessHost,
  { layout, tops }: KeptRepository,
  { text, complete, exitCode }: GitAnswer,
  from: number,
): Promise<Finding> {
  const { readable } = host.workspace.policy
  const denied = new Set<string>()
  const turn = createTurns()
  for (let at = from; at < text.length && denied.size < SHOWN;) {
    const others = turn()
    if (others !== undefined) await others
    const found = text.indexOf("\0", at)
    const end = found === -1 ? text.length : found
    const name = text.slice(at, end)
    const top = name === "" ? undefined : tops.find((folder) => !readable(join(folder, name)))
    if (top !== undefined) denied.add(relative(host.root, join(top, name)))
    at = end + 1
  }
  if (denied.size > 0) return { files: [...denied], hidden: true, unknown: false }
  if (complete) return NOTHING
  if (exitCode === CANNOT) return REFUSED
  // Not long, but kept from being read, as a command could do for one after it.
  const trap = await heldUpBy(layout!)
  if (trap !== undefined) return { files: [relative(host.root, trap)], hidden: true, unknown: false }
  return { files: [], hidden: false, unknown: true }
}

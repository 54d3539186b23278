import { mkdirSync, rmdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { isThere, realOf } from "../look.ts"
import { isInside } from "../paths/roots.ts"
import { repositoryOrNothing } from "../repository/layout.ts"
import type { SandboxPlan } from "../sandbox/bubblewrap.ts"
import { runSandboxed, type SandboxedRequest, type SandboxReport } from "../sandbox/sandbox.ts"
import { putRight } from "./aftercare.ts"
import { deniedHistory } from "./denied-history.ts"
import { guardedIn, insideRepository, repositoriesIn, type Guarded } from "./guarded.ts"
import { gitAnswers } from "./git-answers.ts"
import { isContained, sandboxPolicy, type ProcessHost } from "./host.ts"
import { keepHistory, type KeptHistory } from "./kept-history.ts"
import type { ProcessOutcome } from "../spawn/run-process.ts"
import { secretFiles, type SecretEntries } from "./secret-files.ts"

export interface PlanOptions {
  readonly network?: boolean
  /** Whether repositories may be written to, their configuration and hooks excepted; `read-only` unless given. */
  readonly repositories?: "read-only" | "writable"
  /** Whether the repository's objects are shown although they hold denied files: where git itself must work. */
  readonly history?: "shown"
}

/** A plan for the sandbox, and what is to be done once nothing lives in it any more. */
export interface HostPlan {
  readonly plan: Omit<SandboxPlan, "env" | "cwd">
  /** Denied files for whose sake repositories' objects are hidden; none where git could not say which there are. */
  readonly deniedHistory?: readonly string[]
  /** Undoes what no mount keeps from happening. @returns sentences that say what was done */
  putRight(): Promise<string[]>
}

/**
 * What a sandboxed process of this host may see: every root with its own access; configuration of tools, and of
 * repositories, read-only; files that the path rules keep from the tools not at all.
 */
export async function planFor(host: ProcessHost, options: PlanOptions = {}): Promise<HostPlan> {
  const { network = false, repositories = "read-only" } = options
  const roots = host.workspace.roots.map((root) => root.real)
  const outside = outsideRepository(host.root, roots)
  const placeholders = stateFolders(host)
  const unborn = missingRepositories(roots)
  const [secrets, { found, denied }] = await Promise.all([protectedFiles(host), foundIn(host, options)])
  const hiddenObjects = denied?.objects ?? []
  const guarded = withOutside(found, outside, repositories)
  const folders = host.workspace.roots
    .slice(1)
    .map((root) => ({ path: root.real, writable: root.access === "read-write" }))
  const closed = repositories === "writable" ? (denied?.repositories ?? []) : []
  const history = await keptHistory(host, openTo(repositories, found.writable, outside), closed)
  const loaded = loadedIn(host, roots)
  const plan = {
    root: host.root,
    writable: host.writable,
    network,
    ...(host.config.limits === undefined ? {} : { limits: host.config.limits }),
    folders: outside === undefined ? folders : [...folders, { path: outside, writable: host.writable }],
    pinned: [...guarded.pinned, ...loaded.above].map((path) => ({ path, writable: isWritable(host, path) })),
    protect: [...guarded.fixed, ...closed, ...history.fixed, ...loaded.fixed],
    mounts: history.mounts,
    hidden: secrets.files,
    hiddenFolders: [...secrets.folders, ...hiddenObjects],
    ...gapOf(secrets.incomplete, denied?.unknown === true),
  }
  return {
    plan,
    ...(denied === undefined || hiddenObjects.length === 0 ? {} : { deniedHistory: denied.files }),
    async putRight() {
      placeholders.forEach(removeIfEmpty)
      const there = await repositoriesIn(roots.filter((root) => isWritable(host, root)))
      const made = [...new Set([...unborn, ...there.filter((path) => !found.repositories.has(path))])]
      const kept = await history.settle(made)
      const set = await putRight({
        absent: [...guarded.absent, ...loaded.absent],
        unborn: made,
        known: new Set([...found.repositories, ...(outside === undefined ? [] : [outside])]),
        fixed: new Set(guarded.fixed),
      })
      return [...kept, ...set]
    },
  }
}

function openTo(access: "read-only" | "writable", found: readonly string[], outside: string | undefined) {
  return outside === undefined || access === "read-only" ? found : [...found, outside]
}

/**
 * @param writable folders of repositories that the command may write to
 * @param closed those whose objects are hidden
 */
function keptHistory(host: ProcessHost, writable: readonly string[], closed: readonly string[]): Promise<KeptHistory> {
  return keepHistory(host.writable ? writable : [], closed, gitAnswers(host))
}

/**
 * Makes the folders of our state that are not there yet, so that they can be mounted: a program would otherwise make
 * one and write records of its own into it.
 *
 * @returns those that were made, to be taken away again where they are still empty
 */
function stateFolders({ workspace }: ProcessHost): string[] {
  const writable = workspace.roots.filter(({ access }) => access === "read-write")
  return writable.map(({ real }) => join(real, ".toolwright")).filter(makeFolder)
}

/** @returns whether it was not there before */
function makeFolder(path: string): boolean {
  try {
    mkdirSync(path)
    return true
  } catch {
    return false
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Somebody keeps something in it.
  }
}

function gapOf(files: boolean, history: boolean): { gap?: string } {
  if (files) return { gap: "the workspace holds too many files to find all secrets in it; the command could read some" }
  return history
    ? { gap: "the repository's history is too long to look for secrets in it; the command could read some" }
    : {}
}

type HostRequest = Omit<SandboxedRequest, "plan" | "policy"> & PlanOptions

/**
 * Runs a program of the workspace: in the sandbox that this host's configuration and machine give, with the workspace
 * as its rules have it.
 *
 * @throws ToolwrightError `SANDBOX_REQUIRED` when there must be a sandbox and there is none
 */
export async function runInWorkspace(
  host: ProcessHost,
  { network, repositories, ...request }: HostRequest,
): Promise<{ outcome: ProcessOutcome; sandbox: SandboxReport }> {
  const options = {
    ...(network === undefined ? {} : { network }),
    ...(repositories === undefined ? {} : { repositories }),
  }
  const { plan, deniedHistory: hidden, putRight: settle } = await planFor(host, options)
  const ran = await runSandboxed({ ...request, policy: sandboxPolicy(host), plan }).catch(async (thrown: unknown) => {
    await settle()
    throw thrown
  })
  const { outcome } = ran
  const sandbox = hidden === undefined ? ran.sandbox : { ...ran.sandbox, hidden_history: hidden }
  const notes = await settle()
  if (notes.length === 0) return { outcome, sandbox }
  const reason = [...(sandbox.reason === undefined ? [] : [sandbox.reason]), ...notes].join("; ")
  return { outcome, sandbox: { ...sandbox, reason } }
}

/** The repositories, and what a sandbox has to hide of them; where there is none, git is not asked for it. */
async function foundIn(host: ProcessHost, { history, repositories = "read-only" }: PlanOptions) {
  const found = await guardedIn(guardedRoots(host, repositories))
  const asked = history !== "shown" && (await isContained(host))
  return { found, denied: asked ? await deniedHistory(host, found.repositories) : undefined }
}

/** What the path rules keep from tools, in any root, and whether there were too many files to find all. */
function protectedFiles({ workspace }: ProcessHost): Promise<SecretEntries> {
  return secretFiles(
    workspace.roots.map((root) => root.real),
    workspace.policy,
  )
}

/**
 * What is loaded outside of the sandbox, and the folders between it and a root, which may not be moved away from it.
 */
function loadedIn({ workspace }: ProcessHost, roots: readonly string[]) {
  const paths = workspace.loaded
  const real = paths.map(realOf)
  // What is imported and not there yet is loaded as soon as it is.
  const absent = paths.filter((path, at) => real[at] === undefined && roots.some((root) => isInside(root, path)))
  const fixed = real.filter(
    (path) => path !== undefined && roots.some((root) => path.startsWith(`${root}/`)),
  ) as string[]
  const above = new Set<string>()
  for (const path of fixed)
    for (let folder = dirname(path); !roots.includes(folder); folder = dirname(folder)) above.add(folder)
  return { fixed, absent, above: [...above].toSorted((a, b) => a.length - b.length) }
}

/** The repository of a linked work tree, where it lies outside the roots and points back. */
function outsideRepository(root: string, roots: readonly string[]): string | undefined {
  return repositoryOrNothing(root, roots)?.outside
}

function withOutside(found: Guarded, outside: string | undefined, repositories: "read-only" | "writable"): Guarded {
  if (outside === undefined) return found
  if (repositories === "read-only") return { ...found, fixed: [...found.fixed, outside] }
  const inner = insideRepository(outside)
  return {
    ...found,
    pinned: [...found.pinned, outside],
    fixed: [...found.fixed, ...inner.fixed],
    absent: [...found.absent, ...inner.absent],
  }
}

function guardedRoots({ workspace }: ProcessHost, repositories: "read-only" | "writable") {
  return workspace.roots.map(({ real, access }) => ({
    path: real,
    repositories: access === "read-write" ? repositories : ("read-only" as const),
  }))
}

function missingRepositories(roots: readonly string[]): string[] {
  return roots.map((root) => join(root, ".git")).filter((gitDir) => !isThere(gitDir))
}

function isWritable({ workspace, writable }: ProcessHost, path: string): boolean {
  const inside = workspace.roots.filter((root) => isInside(root.real, path))
  const deepest = inside.sort((a, b) => b.real.length - a.real.length)[0]
  return deepest === undefined ? writable : deepest.access === "read-write"
}

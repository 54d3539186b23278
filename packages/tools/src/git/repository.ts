import { homedir } from "node:os"
import { join } from "node:path"
import { childEnvironment, type ProcessHost, type ProcessOutcome, type HostPlan } from "@toolwright/host/process"
import {
  holdEntries,
  holdingNothing,
  repositoryTop,
  resolveRepository,
  viewRepository,
  type RepositoryLayout,
  type RepositoryView,
} from "@toolwright/host/repository"
import {
  findProgram,
  lightLimits,
  type Limits,
  probeBubblewrap,
  runSandboxed,
  trustedPath,
  type SandboxPolicy,
  type SandboxReport,
} from "@toolwright/host/sandbox"
import { GIT_TIMEOUT_MS } from "./endings.ts"
import { withoutItsLocks } from "./locks.ts"
import { type NamesMore, withinNames } from "./too-large.ts"

/**
 * A working tree that git commands run in: the nearest folder with a `.git`, never above the workspace, and how git is
 * shown what belongs to it. Dispose of it.
 */
export interface Repository extends Disposable {
  readonly workspaceRoot: string
  readonly top: string
  /** Whether the workspace may be changed. */
  readonly writable: boolean
  readonly layout: RepositoryLayout
  readonly view: RepositoryView
  /** Every root of the workspace. */
  readonly folders: readonly { readonly path: string; readonly writable: boolean }[]
  /** The git program, never one of the workspace's own. */
  readonly program: string
  /** Where programs are looked for; nothing of the workspace. */
  readonly path: string
  /** Whether a sandbox contains what runs here. */
  readonly contained: boolean
}

export interface GitSettings {
  readonly sandbox: SandboxPolicy
  /** Protocols that `push` may use, in git's own names. */
  readonly protocols: readonly string[]
  /** Who commits when git has no identity configured. */
  readonly identity: { readonly name: string; readonly email: string }
  /** What git may take of the machine. */
  readonly limits?: Limits | undefined
}

/**
 * Opens the repository that a folder belongs to; `undefined` when there is none inside the workspace.
 *
 * @param folder where to begin to look, without symbolic links
 * @throws ToolwrightError `REPOSITORY_REFUSED` when it reaches out of the workspace or cannot be read, and the system's
 *   `ENOENT` when git is not installed
 */
export async function openRepositoryAt(
  host: ProcessHost,
  settings: GitSettings,
  folder: string,
): Promise<Repository | undefined> {
  const roots = host.workspace.roots.map((root) => root.real)
  const top = repositoryTop(host.root, folder)
  const layout = top === undefined ? undefined : resolveRepository(top, roots)
  if (layout === undefined) return undefined
  const contained = settings.sandbox !== "off" && (await probeBubblewrap()).program !== undefined
  await holdEntries(layout, { roots, denied: host.workspace.policy.denied }, !contained)
  const path = trustedPath(roots)
  const program = findProgram("git", path)
  if (program === undefined)
    throw Object.assign(new Error("git is not installed"), { code: "ENOENT", syscall: "spawn git" })
  const view = viewRepository(layout, host.writable)
  return {
    workspaceRoot: host.root,
    top: layout.top,
    writable: host.writable,
    layout,
    view,
    folders: host.workspace.roots
      .slice(1)
      .map(({ real, access }) => ({ path: real, writable: access === "read-write" })),
    program,
    path,
    contained,
    [Symbol.dispose]: () => view[Symbol.dispose](),
  }
}

export interface GitRun {
  readonly input?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Talks to a remote: runs with the network and the user's own keys. */
  readonly remote?: boolean
  /** Settings for this command alone (`user.name=…`). */
  readonly config?: readonly string[]
  /** The command's paths are patterns with git's `:(…)` signs; they are taken literally otherwise. */
  readonly patterns?: boolean
  /** Bytes of output that are kept; beyond these the middle is left out. */
  readonly keepBytes?: number
  /** The command starts programs of the repository (hooks): these are kept from protected files, and limited. */
  readonly hooks?: HostPlan
}

export interface GitOutcome extends ProcessOutcome {
  readonly sandbox: SandboxReport
}

/**
 * Runs git with an argument vector, in the sandbox where there is one, and with a configuration of ours everywhere
 * (see `RepositoryView`): git starts no program that a configuration names.
 *
 * @throws ToolwrightError `REPOSITORY_REFUSED` when it would wait for what lies in a file's place, and `MEMORY_LIMIT`
 *   when a commit names more files than fit into its memory
 */
export function git(
  repository: Repository,
  settings: GitSettings,
  args: readonly string[],
  run: GitRun = {},
): Promise<GitOutcome> {
  return runInRepository(repository, settings, { argv: gitArgv(repository, args, run), commands: [args[0]!], run })
}

export function gitArgv({ program }: Repository, args: readonly string[], run: GitRun): string[] {
  const config = (run.config ?? []).flatMap((entry) => ["-c", entry])
  const patterns = run.patterns === true ? [] : ["--literal-pathspecs"]
  return [program, "--no-pager", ...patterns, ...config, ...args]
}

/** What is to be run, and the commands of git that it consists of. */
interface Running {
  readonly argv: readonly string[]
  readonly commands: readonly string[]
  readonly run: GitRun
}

/** Runs what consists of commands of git as `git` does. */
export async function runInRepository(
  repository: Repository,
  settings: GitSettings,
  { argv, commands, run }: Running,
): Promise<GitOutcome> {
  const { layout } = repository
  const start = (signal: AbortSignal) =>
    runSandboxed({
      argv,
      cwd: repository.top,
      env: gitEnvironment(repository, settings, run.remote === true),
      timeoutMs: run.timeoutMs ?? GIT_TIMEOUT_MS,
      limits: { headBytes: run.keepBytes ?? 4 * 1024 * 1024 },
      ...planOf(repository, settings, run),
      ...(run.input === undefined ? {} : { input: run.input }),
      signal,
    })
  const locking = { commands, folders: [layout.gitDir, layout.commonDir] }
  const unlocked = (signal: AbortSignal) =>
    withoutItsLocks(
      locking,
      () => start(signal),
      (ran) => ran.outcome.ended !== "exit",
    )
  const namesMore: NamesMore = (...asked) => commitNamesMore(repository, settings, ...asked)
  const bounded = { argv, command: commands[0]!, namesMore }
  const { outcome, sandbox } = await holdingNothing(layout, run.signal, (signal) =>
    run.remote === true ? unlocked(signal) : withinNames(bounded, signal, unlocked),
  )
  const notes = (await run.hooks?.putRight()) ?? []
  const stderr = { ...outcome.stderr, text: withoutLines(outcome.stderr.text) }
  return { ...outcome, stderr, sandbox: notes.length === 0 ? sandbox : { ...sandbox, reason: notes.join("; ") } }
}

async function commitNamesMore(
  repository: Repository,
  settings: GitSettings,
  ...[commit, bytes, signal]: Parameters<NamesMore>
): Promise<boolean> {
  const { outcome } = await runSandboxed({
    argv: gitArgv(repository, ["ls-tree", "-r", "-t", "-z", "--name-only", "--full-tree", commit], {}),
    cwd: repository.top,
    env: gitEnvironment(repository, settings, false),
    timeoutMs: GIT_TIMEOUT_MS,
    limits: { headBytes: 1024, tailBytes: 1024, logBytes: 0 },
    maxOutputBytes: bytes,
    ...planOf(repository, settings, {}),
    signal,
  })
  return outcome.ended === "output-limit"
}

/** What git says of a file that it cannot read, without the line that it repeats: another file may have been put there. */
function withoutLines(said: string): string {
  return said
    .replace(/((?:bad shallow line|un(?:expected|terminated) line in [^\n]{1,1000}?):) [^\n]*/gu, "$1 (not shown)")
    .replace(/^[^\n]* (is not a valid attribute name: )/gmu, "(not shown) $1")
}

/** What git is contained by. Pushing needs the user's keys: where a sandbox is required, they are shown to it there. */
function planOf({ view, layout, ...repository }: Repository, settings: GitSettings, run: GitRun) {
  const remote = run.remote === true
  const policy: SandboxPolicy = remote && settings.sandbox !== "required" ? "off" : settings.sandbox
  const keys = [".ssh", ".gitconfig", ".config/git", ".git-credentials"].map((name) => join(homedir(), name))
  const readable = [view.folder, ...view.reads, ...(remote ? keys : [])]
  // Hooks are programs of the repository: what holds a command holds them.
  if (run.hooks !== undefined) return { policy, plan: { ...run.hooks.plan, readable } }
  return {
    policy,
    plan: {
      root: repository.workspaceRoot,
      writable: repository.writable,
      network: remote,
      ...(remote ? {} : { alone: repository.program }),
      // What is sent is packed in memory.
      limits: lightLimits(remote ? { memoryMb: 4096, ...settings.limits } : settings.limits),
      readable,
      folders: [
        ...repository.folders,
        ...(layout.outside === undefined ? [] : [{ path: layout.outside, writable: repository.writable }]),
      ],
      protect: [layout.commonDir, layout.gitDir].flatMap((folder) => [join(folder, "config"), join(folder, "hooks")]),
    },
  }
}

function gitEnvironment(repository: Repository, settings: GitSettings, remote: boolean): Record<string, string> {
  const { GIT_CONFIG_GLOBAL: ours, ...view } = repository.view.env
  return childEnvironment({
    HOME: homedir(),
    PATH: repository.path,
    ...view,
    // A remote asks for the user's own keys, and it is the user's own configuration that knows where they are.
    ...(remote ? {} : { GIT_CONFIG_GLOBAL: ours }),
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_EDITOR: "true",
    GIT_ALLOW_PROTOCOL: settings.protocols.join(":"),
    LC_ALL: "C.UTF-8",
  })
}

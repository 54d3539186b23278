import { lstat } from "node:fs/promises"
import { homedir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { isInside } from "@toolwright/host/paths"
import { childEnvironment, type ProcessOutcome } from "@toolwright/host/process"
import { probeBubblewrap, runSandboxed, type SandboxPolicy, type SandboxReport } from "@toolwright/host/sandbox"

/** A working tree that git commands run in: the nearest folder with a `.git`, never above the workspace. */
export interface Repository {
  readonly workspaceRoot: string
  readonly top: string
  /** Whether the workspace may be changed. */
  readonly writable: boolean
  /** `.git` is a file (a worktree or a submodule), whose real folder lies elsewhere. */
  readonly linked: boolean
}

export interface GitSettings {
  readonly sandbox: SandboxPolicy
  /** Protocols that `push` may use, in git's own names. */
  readonly protocols: readonly string[]
  /** Who commits when git has no identity configured. */
  readonly identity: { readonly name: string; readonly email: string }
}

/** Looks for the repository that a folder belongs to. `undefined` when there is none inside the workspace. */
export async function findRepository(
  workspaceRoot: string,
  writable: boolean,
  folder: string,
): Promise<Repository | undefined> {
  for (let at = resolve(folder); isInside(workspaceRoot, at); at = dirname(at)) {
    const stat = await lstat(join(at, ".git")).catch(() => undefined)
    if (stat !== undefined && !stat.isSymbolicLink()) return { workspaceRoot, writable, top: at, linked: stat.isFile() }
    if (at === dirname(at)) break
  }
  return undefined
}

export interface GitRun {
  readonly input?: string
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Talks to a remote: runs with the network and the user's own keys, outside the sandbox. */
  readonly remote?: boolean
  /** Settings for this command alone (`user.name=…`). */
  readonly config?: readonly string[]
  /** The command's paths are patterns with git's `:(…)` signs; they are taken literally otherwise. */
  readonly patterns?: boolean
  /** Bytes of output that are kept; beyond these the middle is left out. */
  readonly keepBytes?: number
}

export interface GitOutcome extends ProcessOutcome {
  readonly sandbox: SandboxReport
}

/**
 * What a repository must not decide: a checked-out `.git/config` or `.gitattributes` is data from others, and several
 * of
 * its keys name programs that git would run.
 */
const HARMLESS = [
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
  "core.pager=cat",
  "core.editor=true",
  "core.sshCommand=ssh -oBatchMode=yes",
  "core.gitProxy=",
  "core.alternateRefsCommand=",
  "diff.external=",
  "protocol.ext.allow=never",
  "commit.gpgSign=false",
  "tag.gpgSign=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "submodule.recurse=false",
  "core.quotePath=false",
  "color.ui=false",
] as const

/**
 * Runs git with an argument vector. Programs that the repository's configuration names do not run: the fixed ones are
 * overridden, filters are contained by the sandbox or, where there is none, switched off.
 */
export async function git(
  repository: Repository,
  settings: GitSettings,
  args: readonly string[],
  run: GitRun = {},
): Promise<GitOutcome> {
  const policy: SandboxPolicy = run.remote === true || repository.linked ? "off" : settings.sandbox
  const exec = (more: readonly string[], command: readonly string[]) => {
    const config = [...HARMLESS, ...more].flatMap((entry) => ["-c", entry])
    const where = [`--git-dir=${join(repository.top, ".git")}`, `--work-tree=${repository.top}`]
    return runSandboxed({
      argv: [
        "git",
        "--no-pager",
        ...(run.patterns === true ? [] : ["--literal-pathspecs"]),
        ...config,
        ...where,
        ...command,
      ],
      cwd: repository.top,
      env: gitEnvironment(settings),
      timeoutMs: run.timeoutMs ?? 60_000,
      limits: { headBytes: run.keepBytes ?? 4 * 1024 * 1024 },
      policy,
      plan: {
        root: repository.workspaceRoot,
        writable: repository.writable,
        maxProcesses: null,
        readable: [join(homedir(), ".gitconfig"), join(homedir(), ".config/git")],
      },
      ...(run.input === undefined ? {} : { input: run.input }),
      ...(run.signal === undefined ? {} : { signal: run.signal }),
    })
  }
  const contained = policy !== "off" && (await probeBubblewrap()).program !== undefined
  const off = contained ? [] : await programsOff(exec)
  const { outcome, sandbox } = await exec([...off, ...(run.config ?? [])], args)
  return { ...outcome, sandbox }
}

const PROGRAMS =
  /^(?:diff\..*\.(?:command|textconv)|merge\..*\.driver|credential\..*helper|gpg\..*program|.*\.(?:uploadpack|receivepack))$/isu

/**
 * Overrides that switch off every program that the repository's own configuration, or a file that it includes, names
 * under a name of its own
 * choice. The user's configuration stays as it is.
 */
async function programsOff(
  exec: (more: readonly string[], command: readonly string[]) => Promise<{ outcome: ProcessOutcome }>,
): Promise<string[]> {
  const { outcome } = await exec([], ["config", "--includes", "--show-scope", "-z", "--name-only", "--list"])
  const parts = outcome.stdout.text.split("\0")
  const off: string[] = []
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [scope, name] = [parts[index]!, parts[index + 1]!]
    if (scope !== "local" && scope !== "worktree") continue
    if (/^filter\..*\.(?:clean|smudge|process)$/su.test(name))
      off.push(`${name}=`, `${name.replace(/\.[a-z]+$/u, ".required")}=false`)
    else if (PROGRAMS.test(name)) off.push(`${name}=`)
  }
  return off
}

function gitEnvironment(settings: GitSettings): Record<string, string> {
  return childEnvironment({
    HOME: homedir(),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_EDITOR: "true",
    GIT_ALLOW_PROTOCOL: settings.protocols.join(":"),
    LC_ALL: "C.UTF-8",
  })
}

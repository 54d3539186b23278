import { ToolwrightError } from "@toolwright/toolbox"
import { holdingNothing } from "../repository/held.ts"
import { repositoryOrNothing, type RepositoryLayout } from "../repository/layout.ts"
import { viewRepository } from "../repository/view.ts"
import { findProgram, trustedPath } from "../sandbox/find-program.ts"
import { lightLimits } from "../sandbox/limits.ts"
import { runSandboxed } from "../sandbox/sandbox.ts"
import { childEnvironment } from "../spawn/environment.ts"
import type { ProcessHost } from "./host.ts"
import { shellInTurn } from "./in-turn.ts"

/** What git says about a repository; `complete` is false where it could not say all of it. */
export interface GitAnswer {
  readonly text: string
  readonly complete: boolean
  /** As `shellInTurn` ends where it was asked several commands. */
  readonly exitCode: number | null
}

/** Asks git about the repository of a working tree; undefined where there is none that tools may touch. */
export type GitAnswers = (top: string, args: readonly string[]) => Promise<GitAnswer | undefined>

const TIMEOUT_MS = 4000
/** So many commands have time and room each; more of them share it. */
const MOST_SHARES = 2
const MOST_BYTES = 64 * 1024 * 1024

/** Nothing is fetched, nothing is written, and no list of ours says that a commit has other parents than its own. */
const ASKED_ALONE = { GIT_NO_LAZY_FETCH: "1", GIT_OPTIONAL_LOCKS: "0", GIT_GRAFT_FILE: "/dev/null" }

/**
 * Asks git without letting it change anything. Several commands are asked in one sandbox, for making one takes longer
 * than most answers do; before each answer but the first stands a NUL.
 */
export async function askGit(
  host: ProcessHost,
  layout: RepositoryLayout,
  ...commands: readonly (readonly string[])[]
): Promise<GitAnswer> {
  const roots = host.workspace.roots.map((root) => root.real)
  const path = trustedPath(roots)
  const program = findProgram("git", path)
  if (program === undefined) return { text: "", complete: true, exitCode: null }
  using view = viewRepository(layout, false)
  const shares = Math.min(MOST_SHARES, commands.length)
  const request = {
    argv: argvOf(program, commands),
    cwd: layout.top,
    env: childEnvironment({ PATH: path, ...view.env, ...ASKED_ALONE }),
    timeoutMs: TIMEOUT_MS * shares,
    limits: { headBytes: MOST_BYTES * shares },
    policy: host.config.sandbox ?? "auto",
    plan: {
      root: host.root,
      writable: false,
      alone: program,
      limits: lightLimits(host.config.limits),
      readable: [view.folder],
      folders: [
        ...roots.slice(1).map((root) => ({ path: root, writable: false })),
        ...(layout.outside === undefined ? [] : [{ path: layout.outside, writable: false }]),
      ],
    },
  }
  const ran = await unlessHeldUp(layout, (signal) => runSandboxed({ ...request, signal }))
  if (ran === undefined) return { text: "", complete: false, exitCode: null }
  const { outcome } = ran
  // Of one command the caller sees how it ended.
  const isWhole = outcome.ended === "exit" && (commands.length <= 1 || outcome.exitCode === 0)
  const complete = isWhole && !outcome.stdout.truncated
  return { text: outcome.stdout.text, complete, exitCode: outcome.exitCode }
}

function argvOf(program: string, commands: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = commands
  return commands.length <= 1 ? [program, ...first] : shellInTurn(commands.map((args) => [program, ...args]))
}

/** Nothing where git would wait for what lies in a file's place: it is not given the time that it may take. */
async function unlessHeldUp<T>(
  layout: RepositoryLayout,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await holdingNothing(layout, undefined, run)
  } catch (error) {
    if (error instanceof ToolwrightError && error.code === "REPOSITORY_REFUSED") return undefined
    throw error
  }
}

export function gitAnswers(host: ProcessHost): GitAnswers {
  const roots = host.workspace.roots.map((root) => root.real)
  return async (top, args) => {
    const layout = repositoryOrNothing(top, roots)
    return layout === undefined ? undefined : askGit(host, layout, args)
  }
}

import { realpath } from "node:fs/promises"
import { dirname } from "node:path"
import { createWorkspace } from "@toolwright/host/paths"
import { childEnvironment, endingOf, runProcess } from "@toolwright/host/process"
import { diskBound, findProgram, lightLimits, memoryBound, trustedPath } from "@toolwright/host/sandbox"
import { holdEntries, holdingNothing, resolveRepository, viewRepository } from "@toolwright/host/repository"
import { programStarts } from "@toolwright/host/undo"
import { ToolwrightError } from "@toolwright/toolbox"

const TIMEOUT_MS = 120_000
/** A commit can name any number of files without holding them, and git keeps a list of all. */
const LIMITS = lightLimits()
/** The names of half a million files. */
const MOST_OUTPUT = 32 * 1024 * 1024
/** Git starts nothing that a repository names. */
const BARE = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"]
/**
 * Nor does it fetch: an object that a partial clone lacks would be asked for by what the repository's remote names,
 * which may be a program of the folder. Older versions know the second one alone.
 */
const AT_HOME = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "" }
/** Who commits where the user has not said who they are. */
const NOBODY = ["-c", "user.name=Toolwright", "-c", "user.email=toolwright@localhost"]

/** What git answered. */
export interface GitAnswer {
  ok: boolean
  text: string
  /** What it said of a failure. */
  said: string
  /** Whether it was ended since it had written more than anybody reads. */
  endless: boolean
}

/** Git in one working tree, with a configuration of ours: no hook, filter or helper of the repository is started. */
export interface Git {
  readonly top: string
  readonly gitDir: string
  readonly commonDir: string
  /** What came of a command, whichever way it ended. */
  try(...args: string[]): Promise<GitAnswer>
  /** @throws ToolwrightError `GIT_FAILED` */
  run(...args: string[]): Promise<string>
}

/**
 * @param top the folder that holds `.git`
 * @throws ToolwrightError `NOT_A_REPOSITORY`, `REPOSITORY_REFUSED`
 */
export async function gitIn(top: string): Promise<Git> {
  const real = await realpath(top)
  const layout = resolveRepository(real, [real])
  if (layout === undefined)
    throw new ToolwrightError("NOT_A_REPOSITORY", `${top} is not the top of a git repository.`, {
      hint:
        "Tasks with a worktree of their own need one: run git init and commit what is there, or leave " +
        "--worktree out.",
    })
  const { policy } = createWorkspace({ roots: [{ path: real, access: "read-write" }] })
  await holdEntries(layout, { roots: [real], denied: policy.denied }, true)
  const { gitDir, commonDir } = layout
  const attempt = async (...args: string[]): Promise<GitAnswer> => {
    using view = viewRepository(layout, true)
    await programStarts()
    const argv = [await program(), ...BARE, ...(await known(view.env)), ...args]
    return await holdingNothing(layout, undefined, (signal) => answerOf(argv, real, { ...view.env }, signal))
  }
  let found: Promise<string> | undefined
  const program = (): Promise<string> => (found ??= gitFor(real, dirname(commonDir)))
  let whose: readonly string[] | undefined
  const known = async (env: Readonly<Record<string, string>>): Promise<readonly string[]> =>
    (whose ??= (await answerOf([await program(), "config", "user.email"], real, { ...env })).ok ? [] : NOBODY)
  return {
    top: real,
    gitDir,
    commonDir,
    try: attempt,
    run: async (...args) => textOf(await attempt(...args), args),
  }
}

/** Git as it comes, for what it keeps of its working trees: a view of the repository would be written down in them. */
export async function plainGit(top: string, ...args: string[]): Promise<string> {
  return textOf(await answerOf([await gitFor(top), ...BARE, ...args], top, {}), args)
}

/**
 * Git itself: no program of that name that lies in the folders that it is for, wherever the PATH looks first.
 *
 * @throws ToolwrightError `GIT_FAILED` where there is none
 */
export async function gitFor(...folders: readonly string[]): Promise<string> {
  const program = await findProgram("git", await trustedPath([process.cwd(), ...folders]))
  if (program !== undefined) return program
  throw new ToolwrightError("GIT_FAILED", "No git is installed outside the folders that are worked in.", {
    hint: "Install git, or put the folder that holds it on the PATH by its full name.",
  })
}

async function answerOf(
  argv: string[],
  cwd: string,
  env: Record<string, string>,
  signal?: AbortSignal,
): Promise<GitAnswer> {
  const outcome = await runProcess({
    argv,
    cwd,
    ...(signal === undefined ? {} : { signal }),
    env: childEnvironment({ ...env, ...AT_HOME, GIT_TERMINAL_PROMPT: "0", GIT_EDITOR: "true", LC_ALL: "C" }),
    timeoutMs: TIMEOUT_MS,
    limits: { headBytes: 1 << 20, tailBytes: 1 << 20, logBytes: 0 },
    maxOutputBytes: MOST_OUTPUT,
    disk: diskBound(cwd, true, LIMITS),
    memoryMb: memoryBound(LIMITS),
  })
  const { stdout, stderr, exitCode, ended } = outcome
  const why = ended === "exit" ? stderr.text : `it was ${endingOf(outcome, TIMEOUT_MS)}`
  const text = stdout.text.trimEnd()
  return { ok: exitCode === 0, text, said: `${why}\n${stdout.text}`.trim(), endless: ended === "output-limit" }
}

function textOf({ ok, text, said }: GitAnswer, args: readonly string[]): string {
  if (ok) return text
  throw new ToolwrightError("GIT_FAILED", `git ${args[0] ?? ""} failed: ${said.split("\n")[0] ?? ""}`, {
    hint: "Look at the repository; once git works there again, try the task again: toolwright tasks retry ID.",
  })
}

import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, isAbsolute, join, normalize, resolve } from "node:path"
import { isAlive } from "@toolwright/host/process-life"
import { childEnvironment, runProcess } from "@toolwright/host/process"
import { ToolwrightError } from "@toolwright/toolbox"
import type { SuiteTask } from "./suite.ts"
import { gitFor } from "../isolation/git.ts"

const MOST_FILES = 20_000
const MOST_BYTES = 1024 * 1024 * 1024
/** Folders of a project that are no part of it. */
const PASSED_OVER = new Set([".git", ".toolwright"])

const PREFIX = "toolwright-trial-"
/** The process that a folder belongs to stands in its name; in that of one that is to be kept, none. */
const OWNED = /^toolwright-trial-(\d+)-/
/** Processes of another container are not seen from here, and no trial takes as long. */
const ABANDONED_MS = 24 * 60 * 60 * 1000

/** The folder of one trial: of its own, and gone afterwards unless it is kept. */
export interface TrialFolder extends Disposable {
  /** Absolute, without links in it. */
  readonly path: string
  keep(): void
}

/**
 * Makes the folder that a trial starts from.
 *
 * @param suiteFolder where `from` starts
 * @param keeps whether it may be kept
 * @throws ToolwrightError `INVALID_SUITE` where the files to start from are not there, or too many
 */
export async function trialFolder(
  task: Pick<SuiteTask, "files" | "from" | "git">,
  suiteFolder: string,
  keeps = false,
): Promise<TrialFolder> {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `${PREFIX}${keeps ? "" : `${process.pid}-`}`)))
  let kept = false
  try {
    if (task.from !== undefined) copyInto(resolve(suiteFolder, task.from), path)
    for (const [file, content] of Object.entries(task.files ?? {})) {
      const full = within(path, file)
      mkdirSync(dirname(full), { recursive: true })
      writeFileSync(full, content)
    }
    if (task.git === true) await beginRepository(path)
  } catch (thrown) {
    rmSync(path, { recursive: true, force: true })
    throw thrown
  }
  return {
    path,
    keep: () => void (kept = true),
    [Symbol.dispose]() {
      if (!kept) rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Takes away what trials left behind whose process was killed: of this user, a day old, and not to be kept. */
export function sweepTrialFolders(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = OWNED.exec(name)?.[1]
    if (pid === undefined || isAlive(Number(pid))) continue
    const path = join(tmpdir(), name)
    const found = lstatSync(path, { throwIfNoEntry: false })
    const isOurs = found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid)
    if (!isOurs || Date.now() - found.mtimeMs < ABANDONED_MS) continue
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // Whoever looks next time may be able to.
    }
  }
}

/**
 * Why a file cannot be put into the folder of a trial. What lies in `.git` would be obeyed where its first commit is
 * made: by git itself, outside every sandbox.
 */
export function fileFault(file: string): string | undefined {
  const steps = normalize(file).split(/[\\/]/)
  const own = steps.find((step) => PASSED_OVER.has(step.toLowerCase()))
  if (own !== undefined) return `'${file}' lies in ${own}, which is no part of what a trial starts from`
  if (isAbsolute(file) || steps[0] === ".." || ["", "."].includes(steps.at(-1)!))
    return `'${file}' is no file in the folder of a trial: say its path from there`
  return undefined
}

/** @throws ToolwrightError `INVALID_SUITE` for a path that leads out of the folder */
function within(folder: string, file: string): string {
  const fault = fileFault(file)
  if (fault === undefined) return join(folder, file)
  throw new ToolwrightError("INVALID_SUITE", `${fault}.`)
}

/** Plain files and folders; links would lead out of the folder. */
function copyInto(source: string, target: string): void {
  const found = lstatSync(source, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true)
    throw new ToolwrightError("INVALID_SUITE", `There is no folder ${source} to start from.`, {
      hint: "The 'from' of a task is a folder, relative to the suite's own.",
    })
  let files = 0
  let bytes = 0
  const copy = (from: string, to: string): void => {
    mkdirSync(to, { recursive: true })
    for (const entry of readdirSync(from, { withFileTypes: true })) {
      if (PASSED_OVER.has(entry.name)) continue
      const [inner, outer] = [join(from, entry.name), join(to, entry.name)]
      // Folders of trials lie among temporary files, and so may what they start from.
      if (entry.isDirectory() && entry.name.startsWith(PREFIX)) continue
      if (entry.isDirectory()) copy(inner, outer)
      if (!entry.isFile()) continue
      bytes += lstatSync(inner).size
      if (++files > MOST_FILES || bytes > MOST_BYTES)
        throw new ToolwrightError("INVALID_SUITE", `${source} holds too much to start each trial from.`, {
          hint: `At most ${MOST_FILES} files and ${MOST_BYTES / 1024 ** 2} MB: leave out what is installed or built.`,
        })
      copyFileSync(inner, outer)
    }
  }
  copy(source, target)
}

const GIT = ["-c", "user.name=Toolwright", "-c", "user.email=toolwright@localhost", "-c", "core.hooksPath=/dev/null"]

async function beginRepository(folder: string): Promise<void> {
  const env = childEnvironment({ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_TERMINAL_PROMPT: "0" })
  const said = ["user.name=Toolwright", "user.email=toolwright@localhost", "commit.gpgsign=false"]
  const steps = [
    ["init", "-q", "-b", "main"],
    ...said.map((each) => ["config", ...each.split("=")]),
    ["add", "-A"],
    ["commit", "-q", "--allow-empty", "-m", "Begin"],
  ]
  const git = await gitFor(folder)
  for (const step of steps) {
    const argv = [git, ...GIT, ...step]
    const { exitCode, stderr } = await runProcess({ argv, cwd: folder, env, timeoutMs: 60_000 })
    if (exitCode !== 0)
      throw new ToolwrightError("GIT_FAILED", `git ${step[0]} failed in the folder of a trial: ${stderr.text.trim()}`)
  }
}

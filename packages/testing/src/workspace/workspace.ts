import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, sep } from "node:path"
import { ToolwrightError } from "@toolwright/toolbox"
import { initRepository, runGit } from "./git.ts"
import { changesBetween, snapshotOf, type FileChanges } from "./snapshot.ts"

export interface WorkspaceOptions {
  /** Files by their path in the folder. */
  files?: Readonly<Record<string, string | Uint8Array>>
  /** Makes it a git repository with one commit that holds these files. */
  git?: boolean
}

/**
 * A folder of its own for one test. It can be given to `runAgent` and to `createToolwright` as `workspace`. It goes
 * with `using`, with `remove()`, and at the latest when the process ends.
 */
export interface TestWorkspace extends Disposable {
  /** Absolute, without links in it. */
  readonly path: string
  /** The same as a setting: the one folder that tools may read and write. */
  readonly roots: [string]
  /** The text of a file. @throws ToolwrightError `WORKSPACE_FILE` when it is not there, with what is */
  read(file: string): string
  write(file: string, content: string | Uint8Array): void
  has(file: string): boolean
  /** Every file, sorted, without those of git and of Toolwright's own state. */
  files(): string[]
  /** What is different from the beginning. */
  changes(): FileChanges
  /** Runs git in the folder and gives what it prints. @throws ToolwrightError `WORKSPACE_GIT` */
  git(...args: string[]): string
  remove(): void
}

/**
 * Makes a disposable folder with files.
 *
 * @throws ToolwrightError `WORKSPACE_FILE` for a path that leads out of it, `WORKSPACE_GIT` when git is missing or
 *   fails
 * @example
 * using project = workspace({ files: { "src/add.js": "export const add = (a, b) => a - b\n" }, git: true })
 * await runAgent({ backend, workspace: project, task: "Fix add()" })
 * assert.deepEqual(project.changes().changed, ["src/add.js"])
 */
export function workspace({ files = {}, git = false }: WorkspaceOptions = {}): TestWorkspace {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-test-")))
  if (standing.size === 0) process.once("exit", removeAll)
  standing.add(path)

  const within = (file: string): string => {
    const full = join(path, file)
    if (file === "" || relative(path, full).split(sep)[0] === ".." || full === path)
      throw new ToolwrightError("WORKSPACE_FILE", `'${file}' is no file in the workspace.`)
    return full
  }
  const write = (file: string, content: string | Uint8Array): void => {
    const full = within(file)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, content)
  }
  const list = (): string[] => [...snapshotOf(path).keys()].sort()
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
    standing.delete(path)
    if (standing.size === 0) process.off("exit", removeAll)
  }

  try {
    for (const [file, content] of Object.entries(files)) write(file, content)
    if (git) initRepository(path)
  } catch (thrown) {
    remove()
    throw thrown
  }
  const begin = snapshotOf(path)
  return {
    path,
    roots: [path],
    read(file) {
      const full = within(file)
      if (existsSync(full)) return readFileSync(full, "utf8")
      const there = list()
      throw new ToolwrightError(
        "WORKSPACE_FILE",
        `The workspace has no file '${file}'. There ` +
          `${there.length === 0 ? "are none" : `are: ${there.slice(0, 30).join(", ")}`}.`,
      )
    },
    write,
    has: (file) => existsSync(within(file)),
    files: list,
    changes: () => changesBetween(begin, snapshotOf(path)),
    git: (...args) => runGit(path, args),
    remove,
    [Symbol.dispose]: remove,
  }
}

const standing = new Set<string>()

/** What tests forgot. */
function removeAll(): void {
  for (const path of standing) rmSync(path, { recursive: true, force: true })
  standing.clear()
}

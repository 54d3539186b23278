import { execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { ToolDefinition } from "@toolwright/toolbox"
import { shellQuoted } from "@toolwright/toolbox/shell-word"
import { createWorkspace, type Workspace } from "@toolwright/host/paths"
import { withFormerNames } from "../compat/former-names.ts"
import type { CodingToolsConfig } from "../process-tools.ts"
import { createProcessTools } from "../process-tools.ts"

/** A workspace in a temporary folder, with the tools that run processes; disposing it removes everything. */
export interface WorkspaceFixture extends Disposable {
  readonly root: string
  readonly workspace: Workspace
  readonly tools: ReadonlyMap<string, ToolDefinition>
  /** Writes files beside the tools, creating folders. */
  write(files: Readonly<Record<string, string>>): void
  /** Runs git as a user would. */
  git(...args: string[]): string
  /**
   * Several at once: forking a process as large as a test's costs more than what it starts.
   *
   * @returns what each one said, in which no NUL may stand
   * @throws where one fails, after which none is run
   */
  gits(...commands: (readonly string[])[]): string[]
}

/** What git is told before each command of a user's. */
const AS_USER = ["-c", "user.name=Test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]

export function workspaceFixture(
  files: Readonly<Record<string, string>> = {},
  config: CodingToolsConfig = {},
): WorkspaceFixture {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-test-")))
  const root = join(folder, "workspace")
  mkdirSync(root)
  const workspace = createWorkspace({
    roots: [{ path: root, access: "read-write" }],
    stateDirectory: join(folder, "state"),
  })
  const fixture: WorkspaceFixture = {
    root,
    workspace,
    tools: new Map(createProcessTools(workspace, config).map((tool) => [tool.name, withFormerNames(tool)])),
    write(written) {
      for (const [path, text] of Object.entries(written)) {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), text)
      }
    },
    git: (...args) =>
      execFileSync("git", [...AS_USER, ...args], { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }),
    gits(...commands) {
      const script = commands.map((args) => ["git", ...AS_USER, ...args].map(shellQuoted).join(" "))
      return execFileSync("sh", ["-ec", script.join("\nprintf '\\0'\n")], {
        cwd: root,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe"],
      }).split("\0")
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
  fixture.write(files)
  return fixture
}

/**
 * A workspace as `prepare` leaves it, which works once for a test file: what it made is copied for all further tests.
 * Making a repository starts git half a dozen times, and takes longer than much of what is asked of it.
 *
 * @param name tells what is prepared from what else the file prepares
 */
export function preparedFixture(
  name: string,
  prepare: (fixture: WorkspaceFixture) => void,
  config: CodingToolsConfig = {},
): WorkspaceFixture {
  const fixture = workspaceFixture({}, config)
  const kept = join(process.env["XDG_STATE_HOME"] ?? dirname(fixture.root), "prepared", encodeURIComponent(name))
  const copying = { recursive: true, verbatimSymlinks: true }
  if (existsSync(kept)) cpSync(kept, fixture.root, copying)
  else {
    prepare(fixture)
    cpSync(fixture.root, kept, copying)
  }
  return fixture
}

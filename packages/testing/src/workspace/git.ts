import { execFileSync } from "node:child_process"
import { devNull } from "node:os"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"

/**
 * Variables that point git at another repository, as they are set while a git hook runs the tests, and settings of the
 * person.
 */
function gitEnvironment(): NodeJS.ProcessEnv {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_")))
  return { ...clean, GIT_CONFIG_GLOBAL: devNull, GIT_CONFIG_NOSYSTEM: "1", GIT_TERMINAL_PROMPT: "0" }
}

/** @throws ToolwrightError `WORKSPACE_GIT` with what git said */
export function runGit(folder: string, args: readonly string[]): string {
  try {
    return execFileSync("git", args, {
      cwd: folder,
      env: gitEnvironment(),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    }).trimEnd()
  } catch (cause) {
    const { code, stderr = "", stdout = "" } = cause as { code?: string; stderr?: string; stdout?: string }
    const said = code === "ENOENT" ? "git is not installed" : `${stderr}${stdout}`.trim() || messageOf(cause)
    throw new ToolwrightError("WORKSPACE_GIT", `git ${args.join(" ")} failed: ${said}`, { cause })
  }
}

/**
 * Makes a repository with one commit; its own settings keep a person's signing, hooks and line endings away from the
 * tools, too.
 */
export function initRepository(folder: string): void {
  runGit(folder, ["init", "-q", "-b", "main"])
  const settings = {
    "user.name": "Test",
    "user.email": "test@example.invalid",
    "commit.gpgsign": "false",
    "tag.gpgsign": "false",
    "core.autocrlf": "false",
    "core.hooksPath": devNull,
  }
  for (const [key, value] of Object.entries(settings)) runGit(folder, ["config", key, value])
  runGit(folder, ["add", "-A"])
  runGit(folder, ["commit", "-q", "--allow-empty", "-m", "Begin"])
}

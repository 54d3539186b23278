import { spawn, type ChildProcess } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { onTestFinished } from "vitest"
import { builtCommand } from "./built-command.ts"

/** The command of the clone, which runs from the sources. */
export const BIN = fileURLToPath(new URL("../../bin/toolwright.js", import.meta.url))

/** The same, built once for all tests. */
export const BUILT = await builtCommand()

/** What the command wrote and how it ended. */
export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

export interface Running {
  child: ChildProcess
  finished: Promise<Finished>
  /** Waits until the output so far matches, and gives the match. */
  until(pattern: RegExp): Promise<RegExpExecArray>
}

interface CliOptions {
  cwd?: string
  env?: Record<string, string>
  stdin?: string
  /** Whether standard input stays open after that. */
  keepOpen?: boolean
  node?: string
  /** Whether it runs from the sources. */
  fromSource?: boolean
}

/**
 * What of the environment says where programs and the user's own files are: the same for a command line in this process
 * and for one in another, or the second would not know the first one's records for its user's.
 */
export function userOfTests(): Record<string, string> {
  const { PATH = "", HOME = "", XDG_STATE_HOME = "" } = process.env
  return { PATH, HOME, XDG_STATE_HOME }
}

/** The same folder for a server that an MCP client starts: clients pass on few variables, and not that one. */
export const stateOfTests = (): Record<string, string> => ({ XDG_STATE_HOME: process.env.XDG_STATE_HOME! })

/** Starts the real command as a child process, without the settings of whoever runs the tests. */
export function startCli(
  args: readonly string[],
  { cwd, env = {}, stdin, keepOpen = false, node = process.execPath, fromSource = false }: CliOptions = {},
): Running {
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !/^(TOOLWRIGHT_|OPENAI_|NO_COLOR|FORCE_COLOR|NODE_OPTIONS|VITEST)/.test(name),
    ),
  )
  const child = spawn(node, [fromSource || node !== process.execPath ? BIN : BUILT, ...args], {
    cwd: cwd ?? tmpdir(),
    env: { ...inherited, ...env } as NodeJS.ProcessEnv,
    stdio: "pipe",
  })
  let stdout = ""
  let stderr = ""
  const waiting = new Set<() => void>()
  const wake = (): void => waiting.forEach((each) => each())
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text
    wake()
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (stderr += text))
  child.stdin.on("error", () => {})
  if (keepOpen) child.stdin.write(stdin ?? "")
  else child.stdin.end(stdin ?? "")
  onTestFinished(() => void child.kill("SIGKILL"))
  const finished = new Promise<Finished>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code) => {
      wake()
      resolve({ code, stdout, stderr })
    })
  })
  return {
    child,
    finished,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stdout)
          if (match !== null) resolve(match)
          else if (child.exitCode !== null) reject(new Error(`ended before ${pattern}: ${stdout}${stderr}`))
          else return
          waiting.delete(look)
        }
        waiting.add(look)
        look()
      }),
  }
}

/** Runs the command to its end. */
export function cli(args: readonly string[], options?: CliOptions): Promise<Finished> {
  return startCli(args, options).finished
}

/** The same from the sources, as in a clone. */
export const cliFromSource = (args: readonly string[], options?: CliOptions): Promise<Finished> =>
  startCli(args, { ...options, fromSource: true }).finished

/** A temporary folder with these files, removed after the test. */
export function folderWith(files: Readonly<Record<string, string>> = {}): string {
  const path = mkdtempSync(join(tmpdir(), "toolwright-cli-"))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
  return path
}

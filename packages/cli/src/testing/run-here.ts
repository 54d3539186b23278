import { tmpdir } from "node:os"
import { runCommandLine } from "../command-line.ts"
import { userOfTests, type Finished } from "./run-cli.ts"

/**
 * Runs a command line in this process: the same as `cli`, for tables of many cases, without what the process adds
 * around it.
 */
export async function here(
  args: readonly string[],
  { cwd = tmpdir(), env = {}, stdin = "" }: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
): Promise<Finished> {
  let stdout = ""
  let stderr = ""
  const code = await runCommandLine(args, {
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    stdin: (async function* () {
      yield stdin
    })(),
    env: { ...userOfTests(), ...env },
    cwd,
    signal: new AbortController().signal,
    isTTY: { stdin: false, stdout: false, stderr: false },
  })
  return { code, stdout, stderr }
}
